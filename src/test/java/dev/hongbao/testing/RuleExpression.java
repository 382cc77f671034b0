package dev.hongbao.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleBinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * As much of Prometheus' language as our rules use, on two scrapes of one server: what looks back, looks from the second at the first, however
 * long it says. As in Prometheus, a counter that was not in the first has not grown, so it has to be there before its first fault.
 */
final class RuleExpression {
    private static final Pattern TOKEN =
            Pattern.compile("\\s*(\"[^\"]*\"|[0-9.]+|[a-zA-Z_][a-zA-Z0-9_]*|==|=~|!=|[{}()\\[\\],/>=])");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    /** A value for each set of labels; the name of the metric is none of them. */
    private static final class Vector extends HashMap<Map<String, String>, Double> {
        private static final long serialVersionUID = 1;
    }

    private final List<String> tokens = new ArrayList<>();
    private final Exposition before;
    private final Exposition now;
    private int next;

    private RuleExpression(String text, Exposition before, Exposition now) {
        this.before = before;
        this.now = now;
        Matcher token = TOKEN.matcher(text);
        for (int at = 0; at < text.length(); at = token.end()) {
            if (!token.find(at) || token.start() != at) {
                throw new IllegalArgumentException("not read: " + text.substring(at));
            }
            tokens.add(token.group(1));
        }
    }

    /** What is left of an expression that compares: an alert for each. */
    static Map<Map<String, String>, Double> of(String text, Exposition before, Exposition now) {
        RuleExpression read = new RuleExpression(text, before, now);
        Vector left = read.either();
        if (read.next < read.tokens.size()) {
            throw new IllegalArgumentException("not read: " + read.tokens.subList(read.next, read.tokens.size()));
        }
        return left;
    }

    private boolean takes(String token) {
        boolean is = next < tokens.size() && tokens.get(next).equals(token);
        next += is ? 1 : 0;
        return is;
    }

    private void expect(String token) {
        if (!takes(token)) {
            throw new IllegalArgumentException(token + " is missing at word " + next + " of " + tokens);
        }
    }

    private String take() {
        return tokens.get(next++);
    }

    private double number() {
        return Double.parseDouble(take());
    }

    /** What is on either side; where both have it, the left one's. */
    private Vector either() {
        Vector left = unless();
        while (takes("or")) {
            unless().forEach(left::putIfAbsent);
        }
        return left;
    }

    /** Without what the right side has. */
    private Vector unless() {
        Vector left = comparison();
        while (takes("unless")) {
            left.keySet().removeAll(comparison().keySet());
        }
        return left;
    }

    /** With a number. What does not compare is not there. */
    private Vector comparison() {
        Vector left = quotient();
        if (takes(">")) {
            double limit = number();
            left.values().removeIf(value -> !(value > limit));
        } else if (takes("==")) {
            double wanted = number();
            left.values().removeIf(value -> value != wanted);
        }
        return left;
    }

    private Vector quotient() {
        Vector left = term();
        if (!takes("/")) {
            return left;
        }
        Vector right = term();
        Vector quotients = new Vector();
        left.forEach((labels, value) -> {
            if (right.containsKey(labels)) {
                quotients.put(labels, value / right.get(labels));
            }
        });
        return quotients;
    }

    private Vector term() {
        if (takes("(")) {
            Vector inner = either();
            expect(")");
            return inner;
        }
        String word = take();
        return switch (word) {
            case "max" -> aggregate((a, b) -> Double.isNaN(a) || b > a ? b : a);
            case "min" -> aggregate((a, b) -> Double.isNaN(a) || b < a ? b : a);
            case "sum" -> aggregate(Double::sum);
            case "increase", "rate" -> increase(); // a quantile is the same of both
            case "histogram_quantile" -> quantile();
            default -> select(word);
        };
    }

    /** With an offset, however long, what was there before. */
    private Vector select(String metric) {
        Map<String, Pattern> selector = selector();
        if (!takes("offset")) {
            return select(metric, selector, now);
        }
        next += 2; // a number and its unit
        return select(metric, selector, before);
    }

    private Vector aggregate(DoubleBinaryOperator how) {
        Set<String> by = new HashSet<>();
        if (takes("by")) {
            expect("(");
            do {
                by.add(take());
            } while (takes(","));
            expect(")");
        }
        expect("(");
        Vector of = either();
        expect(")");
        Vector found = new Vector();
        of.forEach((labels, value) -> {
            Map<String, String> kept = new TreeMap<>(labels);
            kept.keySet().retainAll(by);
            found.merge(kept, value, how::applyAsDouble);
        });
        return found;
    }

    private Vector increase() {
        expect("(");
        String metric = take();
        Map<String, Pattern> selector = selector();
        expect("[");
        while (!takes("]")) {
            next++;
        }
        expect(")");
        Vector from = select(metric, selector, before);
        Vector to = select(metric, selector, now);
        to.keySet().retainAll(from.keySet());
        // Less than before: the server was started anew.
        to.replaceAll((labels, value) -> value >= from.get(labels) ? value - from.get(labels) : value);
        return to;
    }

    /** Of buckets that differ by {@code le} alone. */
    private Vector quantile() {
        expect("(");
        double share = number();
        expect(",");
        Vector buckets = comparison();
        expect(")");
        TreeMap<Double, Double> counts = new TreeMap<>();
        buckets.forEach((labels, count) ->
                counts.put(Double.parseDouble(labels.get("le").replace("Inf", "Infinity")), count));
        Vector found = new Vector();
        double all = counts.isEmpty() ? 0 : counts.lastEntry().getValue();
        double rank = share * all;
        double lowerBound = 0;
        double lowerCount = 0;
        for (Map.Entry<Double, Double> bucket : counts.entrySet()) {
            if (all > 0 && found.isEmpty() && bucket.getValue() >= rank) {
                double part = (rank - lowerCount) / (bucket.getValue() - lowerCount);
                found.put(
                        Map.of(),
                        Double.isInfinite(bucket.getKey())
                                ? lowerBound
                                : lowerBound + (bucket.getKey() - lowerBound) * part);
            }
            lowerBound = bucket.getKey();
            lowerCount = bucket.getValue();
        }
        return found;
    }

    private Map<String, Pattern> selector() {
        Map<String, Pattern> wanted = new HashMap<>();
        if (takes("{")) {
            do {
                String label = take();
                String how = take();
                String value = take().replace("\"", "");
                wanted.put(label, Pattern.compile(pattern(how, value)));
            } while (takes(","));
            expect("}");
        }
        return wanted;
    }

    private static String pattern(String how, String value) {
        return switch (how) {
            case "=~" -> value;
            case "=" -> Pattern.quote(value);
            case "!=" -> "(?!" + Pattern.quote(value) + "$).*";
            default -> throw new IllegalArgumentException("not read: " + how);
        };
    }

    /** A metric that has no series at all is a mistake, or the server does not answer. */
    private static Vector select(String metric, Map<String, Pattern> wanted, Exposition metrics) {
        if (!metrics.names().contains(metric)) {
            throw new IllegalStateException("no series of " + metric);
        }
        Vector found = new Vector();
        metrics.series().forEach((series, value) -> {
            Map<String, String> labels = new TreeMap<>();
            LABEL.matcher(series).results().forEach(label -> labels.put(label.group(1), label.group(2)));
            boolean isChosen = wanted.entrySet().stream()
                    .allMatch(each -> each.getValue()
                            .matcher(labels.getOrDefault(each.getKey(), ""))
                            .matches());
            if (series.replaceFirst("\\{.*", "").equals(metric) && isChosen) {
                found.put(labels, value);
            }
        });
        return found;
    }
}
