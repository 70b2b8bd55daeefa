// From raw scores to distribution parameters of a Normal and of classes, and from the parameters of all members to the prediction of the ensemble. The same
// operations in the same order as prediction/predictor.cpp, recalibration.hpp and decomposition.hpp of the native core.
#include "core/elementary.hpp"
#include "core/objective.hpp"
#include "cuda/device.cuh"

namespace epiboost::cuda {


inline std::int64_t thread_index() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// A recalibration: its five numbers, and whether there is one.
struct Recalibration {
    bool is_used;
    double factor;
    double reference;
    double power;
    double knowledge;
    double limit;

    double variance(double given) const {
        if (!is_used) return given;
        if (power == 1.0) return factor * given;
        const double smallest = 2.2250738585072014e-308;
        const double largest = 1.7976931348623157e308;
        const double bounded = given < smallest ? smallest : given;
        const double powered = exponential(power * (logarithm(bounded) - logarithm(reference)));
        return factor * reference * (bounded <= largest ? powered : bounded);
    }
};

// The means of one row: member m has changed(m).
struct Means {
    const double* first;
    std::int64_t stride;
    double center = 0.0;
    double scale = 0.0;
    bool is_changed;

    Means(const double* first, std::int64_t stride, int members, const Recalibration& settings)
        : first(first), stride(stride), is_changed(settings.is_used) {
        if (!is_changed) return;
        for (int m = 0; m < members; ++m) center += first[m * stride];
        center /= static_cast<double>(members);
        double variance = 0.0;
        for (int m = 0; m < members; ++m) variance += (first[m * stride] - center) * (first[m * stride] - center);
        const double share = settings.knowledge / settings.limit;
        scale = std::sqrt(settings.knowledge / (1.0 + share * (variance / static_cast<double>(members))));
    }

    double changed(int member) const {
        const double given = first[member * stride];
        return is_changed ? scale * (given - center) + center : given;
    }
};

}  // namespace epiboost::cuda

// scores: (members, 2, padded rows); parameters: (members, rows, 2): mean and variance. One thread per row, one grid row per member.
EPIBOOST_KERNEL normal_parameters(const double* scores, std::int64_t padded_rows, std::int64_t rows, double location,
                                             double scale, double start, double* parameters) {
    using namespace epiboost::cuda;
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    const double* mean = scores + static_cast<std::int64_t>(blockIdx.y) * 2 * padded_rows + row;
    const float log_std = epiboost::clamp(static_cast<float>(start + mean[padded_rows]), epiboost::min_log_std, epiboost::max_log_std);
    const double deviation = scale * static_cast<double>(epiboost::exponential(log_std));
    double* of_row = parameters + (static_cast<std::int64_t>(blockIdx.y) * rows + row) * 2;
    of_row[0] = location + scale * mean[0];
    of_row[1] = deviation * deviation;
}

// scores: (members, 1, padded rows); parameters: (members, rows, 2): probabilities of both classes.
EPIBOOST_KERNEL bernoulli_parameters(const double* scores, std::int64_t padded_rows, std::int64_t rows, const double* start,
                                                double* parameters) {
    using namespace epiboost::cuda;
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    const double score = start[0] + scores[static_cast<std::int64_t>(blockIdx.y) * padded_rows + row];
    double* of_row = parameters + (static_cast<std::int64_t>(blockIdx.y) * rows + row) * 2;
    of_row[0] = 1.0 / (1.0 + epiboost::exponential(score));
    of_row[1] = 1.0 / (1.0 + epiboost::exponential(-score));
}

// scores: (members, classes, padded rows); parameters: (members, rows, classes).
EPIBOOST_KERNEL categorical_parameters(const double* scores, std::int64_t padded_rows, std::int64_t rows, int classes,
                                                  const double* start, double* parameters) {
    using namespace epiboost::cuda;
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    const double* of_member = scores + static_cast<std::int64_t>(blockIdx.y) * classes * padded_rows + row;
    double* of_row = parameters + (static_cast<std::int64_t>(blockIdx.y) * rows + row) * classes;
    double top = start[0] + of_member[0];
    for (int k = 1; k < classes; ++k) {
        const double score = start[k] + of_member[k * padded_rows];
        if (top < score) top = score;
    }
    double sum = 0.0;
    for (int k = 0; k < classes; ++k) sum += of_row[k] = epiboost::exponential(start[k] + of_member[k * padded_rows] - top);
    const double inverse = 1.0 / sum;
    for (int k = 0; k < classes; ++k) of_row[k] *= inverse;
}

// scores: (members, outputs, padded rows); complete: (members, rows, outputs): scores with their start, of which the host makes the
// parameters of a family.
EPIBOOST_KERNEL complete_scores(const double* scores, std::int64_t padded_rows, std::int64_t rows, int outputs, const double* start,
                                double* complete) {
    using namespace epiboost::cuda;
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    const double* of_member = scores + static_cast<std::int64_t>(blockIdx.y) * outputs * padded_rows + row;
    double* of_row = complete + (static_cast<std::int64_t>(blockIdx.y) * rows + row) * outputs;
    for (int k = 0; k < outputs; ++k) of_row[k] = start[k] + of_member[k * padded_rows];
}

// parameters: (members, rows, 2); mean, data and knowledge: (rows). One thread per row.
EPIBOOST_KERNEL summarize_normal(const double* parameters, int members, std::int64_t rows, bool is_recalibrated,
                                            double factor, double reference, double power, double knowledge_factor, double limit,
                                            double* mean, double* data, double* knowledge) {
    using namespace epiboost::cuda;
    const std::int64_t row = thread_index();
    if (row >= rows) return;
    const Recalibration settings{is_recalibrated, factor, reference, power, knowledge_factor, limit};
    const std::int64_t stride = rows * 2;
    const double* of_row = parameters + row * 2;
    const Means means(of_row, stride, members, settings);
    const double base = means.changed(0);
    const double base_variance = settings.variance(of_row[1]);
    double sum = base;
    double center = 0.0;
    double mean_variance = 0.0;
    for (int m = 1; m < members; ++m) {
        sum += means.changed(m);
        center += means.changed(m) - base;
        mean_variance += settings.variance(of_row[m * stride + 1]) - base_variance;
    }
    const double count = static_cast<double>(members);
    center = base + center / count;
    double variance = 0.0;
    for (int m = 0; m < members; ++m) variance += (means.changed(m) - center) * (means.changed(m) - center);
    mean[row] = sum / count;
    data[row] = base_variance + mean_variance / count;
    knowledge[row] = variance / count;
}

// parameters: (members, rows * classes); mean: (rows * classes). One thread per number.
EPIBOOST_KERNEL average_members(const double* parameters, int members, std::int64_t numbers, double* mean) {
    const std::int64_t i = epiboost::cuda::thread_index();
    if (i >= numbers) return;
    double sum = parameters[i];
    for (int m = 1; m < members; ++m) sum += parameters[m * numbers + i];
    mean[i] = sum / static_cast<double>(members);
}
