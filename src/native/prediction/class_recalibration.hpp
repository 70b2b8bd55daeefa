// Recalibration of an ensemble of classifiers: a temperature, and the size of the members' disagreement. The reasons are explained
// in `_estimators/out_of_fold/categorical.py`; the twin in NumPy is in the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/elementary.hpp"
#include "core/threads.hpp"
#include "prediction/class_block.hpp"
#include "prediction/class_entropies.hpp"

namespace epiboost {

struct ClassRecalibration {
    double temperature;
    double knowledge;
    double max_mean_error;

    bool spreads(std::size_t members) const { return members > 1 && knowledge != 1.0; }
};

// Divides the probabilities of one member by their sums.
inline void normalise(ClassLanes* of_class, std::size_t classes, ClassLanes& sum) {
    for (std::size_t i = 0; i < class_rows; ++i) sum[i] = 1.0 / sum[i];
    for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t i = 0; i < class_rows; ++i) of_class[k][i] *= sum[i];
    }
}

inline ClassLanes greatest(const ClassLanes* of_class, std::size_t classes) {
    ClassLanes top = of_class[0];
    for (std::size_t k = 1; k < classes; ++k) {
        for (std::size_t i = 0; i < class_rows; ++i) top[i] = at_least(top[i], of_class[k][i]);
    }
    return top;
}

// Takes probabilities to the power of 1 / temperature.
inline void temper(ClassBlock& block, double temperature) {
    for (std::size_t m = 0; m < block.members; ++m) {
        ClassLanes* of_class = block.of(m);
        ClassLanes top = greatest(of_class, block.classes);
        ClassLanes sum = {};
        for (std::size_t i = 0; i < class_rows; ++i) top[i] = logarithm(at_least(least_probability, top[i]));
        for (std::size_t k = 0; k < block.classes; ++k) {
            for (std::size_t i = 0; i < class_rows; ++i) {
                const double p = of_class[k][i];
                const double power = exponential((logarithm(at_least(least_probability, p)) - top[i]) / temperature);
                of_class[k][i] = p > 0.0 ? power : p;
                sum[i] += of_class[k][i];
            }
        }
        normalise(of_class, block.classes, sum);
    }
}

// Multiplies the members' deviations from their mean logarithm and keeps the mean probabilities.
class ClassSpread {
  public:
    ClassSpread(const ClassRecalibration& settings, std::size_t members, std::size_t classes)
        : factor_(std::sqrt(settings.knowledge)), max_error_(settings.max_mean_error), members_(static_cast<double>(members)),
          changed_(members, classes), mean_(classes), ratio_(classes) {}

    void operator()(ClassBlock& block) {
        for (std::size_t k = 0; k < block.classes; ++k) {
            mean_[k] = mean_of(block, k);
            spread_logarithms(block, k);
        }
        for (std::size_t m = 0; m < block.members; ++m) take_exponentials(changed_.of(m));
        for (int step = 0; step < fitting_steps; ++step) fit_means();
        move(block);
    }

  private:
    static constexpr int fitting_steps = 4;  // of the mean probabilities; more change the fourth digit

    ClassLanes mean_of(const ClassBlock& block, std::size_t k) const {
        ClassLanes mean = {};
        for (std::size_t m = 0; m < block.members; ++m) {
            for (std::size_t i = 0; i < class_rows; ++i) mean[i] += block.of(m)[k][i];
        }
        for (std::size_t i = 0; i < class_rows; ++i) mean[i] /= members_;
        return mean;
    }

    void spread_logarithms(const ClassBlock& block, std::size_t k) {
        ClassLanes center = {};
        for (std::size_t m = 0; m < block.members; ++m) {
            for (std::size_t i = 0; i < class_rows; ++i) {
                const double log_p = logarithm(at_least(least_probability, block.of(m)[k][i]));
                changed_.of(m)[k][i] = log_p;
                center[i] += log_p;
            }
        }
        for (std::size_t i = 0; i < class_rows; ++i) center[i] /= members_;
        for (std::size_t m = 0; m < block.members; ++m) {
            ClassLanes& log_p = changed_.of(m)[k];
            for (std::size_t i = 0; i < class_rows; ++i) log_p[i] = (log_p[i] - center[i]) * factor_ + center[i];
        }
    }

    void take_exponentials(ClassLanes* of_class) const {
        const ClassLanes top = greatest(of_class, changed_.classes);
        ClassLanes sum = {};
        for (std::size_t k = 0; k < changed_.classes; ++k) {
            for (std::size_t i = 0; i < class_rows; ++i) {
                of_class[k][i] = exponential(of_class[k][i] - top[i]);
                sum[i] += of_class[k][i];
            }
        }
        normalise(of_class, changed_.classes, sum);
    }

    // One step of iterative proportional fitting.
    void fit_means() {
        for (std::size_t k = 0; k < changed_.classes; ++k) {
            const ClassLanes mean = mean_of(changed_, k);
            for (std::size_t i = 0; i < class_rows; ++i) ratio_[k][i] = mean_[k][i] / at_least(least_probability, mean[i]);
        }
        for (std::size_t m = 0; m < changed_.members; ++m) {
            ClassLanes* of_class = changed_.of(m);
            ClassLanes sum = {};
            for (std::size_t k = 0; k < changed_.classes; ++k) {
                for (std::size_t i = 0; i < class_rows; ++i) sum[i] += of_class[k][i] *= ratio_[k][i];
            }
            normalise(of_class, changed_.classes, sum);
        }
    }

    // Shifts the probabilities of each row to their mean, as far as none of them becomes negative. Proportional fitting alone fails
    // where members are almost sure of different classes. Such a row stays near the given probabilities, whose mean is right.
    void move(ClassBlock& block) {
        ClassLanes lowest = {};
        for (std::size_t k = 0; k < block.classes; ++k) {
            const ClassLanes mean = mean_of(changed_, k);
            for (std::size_t m = 0; m < block.members; ++m) {
                const ClassLanes& given = block.of(m)[k];
                ClassLanes& shift = changed_.of(m)[k];
                for (std::size_t i = 0; i < class_rows; ++i) {
                    shift[i] = shift[i] + (mean_[k][i] - mean[i]) - given[i];
                    lowest[i] = std::min(lowest[i], given[i] + shift[i]);
                }
            }
        }
        const bool is_limited = *std::min_element(lowest.of_row, lowest.of_row + class_rows) < -max_error_;
        const ClassLanes limit = is_limited ? limits(block) : ones();
        for (std::size_t m = 0; m < block.members; ++m) {
            ClassLanes sum = {};
            for (std::size_t k = 0; k < block.classes; ++k) {
                ClassLanes& given = block.of(m)[k];
                const ClassLanes& shift = changed_.of(m)[k];
                for (std::size_t i = 0; i < class_rows; ++i) {
                    given[i] = at_least(least_probability, given[i] + limit[i] * shift[i]);
                    sum[i] += given[i];
                }
            }
            normalise(block.of(m), block.classes, sum);
        }
    }

    // How much of its shifts each row takes.
    ClassLanes limits(const ClassBlock& block) const {
        const double least_shift = std::max(max_error_, least_probability);
        ClassLanes limit = ones();
        for (std::size_t j = 0; j < block.values.size(); ++j) {
            const ClassLanes& given = block.values[j];
            const ClassLanes& shift = changed_.values[j];
            for (std::size_t i = 0; i < class_rows; ++i) {
                const double most = (given[i] + max_error_) / at_least(least_shift, -shift[i]);
                limit[i] = given[i] + shift[i] < -max_error_ ? std::min(limit[i], most) : limit[i];
            }
        }
        return limit;
    }

    static ClassLanes ones() {
        ClassLanes all;
        std::fill_n(all.of_row, class_rows, 1.0);
        return all;
    }

    double factor_;
    double max_error_;
    double members_;
    ClassBlock changed_;  // the spread probabilities, then by how much they differ from the given ones
    std::vector<ClassLanes> mean_;
    std::vector<ClassLanes> ratio_;
};

// Recalibrates blocks of rows, one after the other.
class ClassRecalibrator {
  public:
    ClassRecalibrator(const ClassRecalibration& settings, const ClassParameters<const double>& given)
        : settings_(settings), given_(given), block_(given.members, given.classes), spread_(settings, given.members, given.classes) {}

    const ClassBlock& operator()(std::size_t first, std::size_t count) {
        block_.load(given_, first, count);
        if (settings_.temperature != 1.0) temper(block_, settings_.temperature);
        if (settings_.spreads(given_.members)) spread_(block_);
        return block_;
    }

  private:
    const ClassRecalibration& settings_;
    const ClassParameters<const double>& given_;
    ClassBlock block_;
    ClassSpread spread_;
};

// Writes the recalibrated probabilities of all rows.
inline void recalibrate_all(const ClassRecalibration& settings, const ClassParameters<const double>& given, int threads,
                            double* changed, const Poll& poll) {
    const ClassParameters<double> to{changed, given.members, given.stride, given.classes};
    const auto make = [&] { return ClassRecalibrator(settings, given); };
    for_class_blocks(given.stride, threads, poll, make, [&](ClassRecalibrator& recalibrate, std::size_t first, std::size_t count) {
        recalibrate(first, count).store(to, first, count);
    });
}

// Writes the data and the knowledge uncertainty of the recalibrated probabilities, which are never written as a whole.
inline void recalibrated_uncertainty(const ClassRecalibration& settings, const ClassParameters<const double>& given, int threads,
                                     double* data, double* knowledge, const Poll& poll) {
    const auto make = [&] { return ClassRecalibrator(settings, given); };
    for_class_blocks(given.stride, threads, poll, make, [&](ClassRecalibrator& recalibrate, std::size_t first, std::size_t count) {
        split_entropy(recalibrate(first, count), count, data + first, knowledge + first);
    });
}

}  // namespace epiboost
