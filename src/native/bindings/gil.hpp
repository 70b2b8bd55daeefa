// The GIL in threads that may outlive the interpreter.
//
// A daemon thread that asks for the GIL after the interpreter has begun to end never gets it. Python 3.14 lets such a thread
// sleep; earlier versions end it with pthread_exit, which on glibc unwinds the stack and aborts the process at the first
// destructor. Here the thread sleeps in all versions: worker threads still use its stack, and the process is about to end.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <thread>

namespace epiboost {

// Releases the GIL until the end of the scope.
class ReleasedGil {
  public:
    ReleasedGil() : ending_(is_ending()), state_(PyEval_SaveThread()) {}
    ~ReleasedGil() { take(); }
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

    // Returns call() with the GIL held, on the thread that has released it. An exception is kept in `failure` and gives false.
    template <class Call>
    bool hold(std::exception_ptr& failure, const Call& call) {
        take();
        bool result = false;
        try {
            result = call();
        } catch (const std::exception&) {
            failure = std::current_exception();
        } catch (...) {  // the interpreter has ended during the call
            sleep_until_exit();
        }
        state_ = PyEval_SaveThread();
        return result;
    }

  private:
    void take() {
        if (!ending_ && is_ending()) sleep_until_exit();
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {  // pthread_exit of glibc
            sleep_until_exit();
        }
    }

    static bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
        return Py_IsFinalizing() != 0;
#else
        return _Py_IsFinalizing() != 0;
#endif
    }

    [[noreturn]] static void sleep_until_exit() {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }

    bool ending_;  // then this is the thread that ends the interpreter, and it may take the GIL
    PyThreadState* state_;
};

// Raises KeyboardInterrupt, or what else the handler of a signal raises, a few times per second.
class SignalCheck {
  public:
    explicit SignalCheck(ReleasedGil& gil) : gil_(gil) {}

    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < interval) return;
        last_ = now;
        std::exception_ptr failure;
        const auto check = [] {
            if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
            return true;
        };
        if (!gil_.hold(failure, check)) std::rethrow_exception(failure);
    }

  private:
    static constexpr std::chrono::milliseconds interval{50};  // as of TrainingMonitor

    ReleasedGil& gil_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace epiboost
