// How many threads there are to use. In a process forked from one that has used OpenMP only the calling thread is alive,
// and waiting for its old team would hang: such a child works on one thread, with the same results.
#pragma once

#include <omp.h>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace epiboost {

inline bool& forked() {
    static bool flag = false;
    return flag;
}

inline void watch_for_forks() {
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, [] { forked() = true; });
#endif
}

inline int available_threads(int wanted) { return forked() || wanted < 1 ? 1 : wanted; }

inline int thread_rank() { return omp_get_thread_num(); }

}  // namespace epiboost
