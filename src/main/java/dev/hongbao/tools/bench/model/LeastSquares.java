package dev.hongbao.tools.bench.model;

/** A straight line through points, as close as can be. Stateless. */
public final class LeastSquares {
    private LeastSquares() {}

    /**
     * What does not depend on x, and what does, neither of them below 0, as costs are. A distance counts as a fraction of y: a tenth too much is as
     * bad for a small cost as for a large one.
     *
     * @param y above 0
     * @return a and b of y = a + b x
     */
    public static double[] line(double[] x, double[] y) {
        double weights = 0;
        double sumX = 0;
        double sumY = 0;
        double squares = 0;
        double products = 0;
        for (int i = 0; i < x.length; i++) {
            double weight = 1 / (y[i] * y[i]);
            weights += weight;
            sumX += weight * x[i];
            sumY += weight * y[i];
            squares += weight * x[i] * x[i];
            products += weight * x[i] * y[i];
        }
        double variance = weights * squares - sumX * sumX;
        double slope = variance > 0 ? (weights * products - sumX * sumY) / variance : 0;
        if (slope <= 0) {
            return new double[] {sumY / weights, 0};
        }
        double intercept = (sumY - slope * sumX) / weights;
        return intercept >= 0 ? new double[] {intercept, slope} : new double[] {0, products / squares};
    }
}
