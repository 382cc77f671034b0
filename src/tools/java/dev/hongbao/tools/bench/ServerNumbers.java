package dev.hongbao.tools.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;

/** What a server says of itself at {@code /metrics}, at one moment. Immutable. */
final class ServerNumbers {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final Map<String, Double> sums;

    private ServerNumbers(Map<String, Double> sums) {
        this.sums = sums;
    }

    /** Asks it. Blocking. */
    static ServerNumbers of(int managementPort) throws IOException, InterruptedException {
        URI metrics = URI.create("http://127.0.0.1:" + managementPort + "/metrics");
        HttpResponse<String> answer =
                CLIENT.send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString());
        Map<String, Double> sums = new HashMap<>();
        answer.body().lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            String name = line.substring(0, Math.max(line.lastIndexOf('}') + 1, line.indexOf(' ')));
            double value =
                    Double.parseDouble(line.substring(name.length()).strip().split(" ", -1)[0]);
            sums.merge(name, value, Double::sum);
            if (name.endsWith("}")) {
                sums.merge(name.substring(0, name.indexOf('{')), value, Double::sum);
            }
        });
        return new ServerNumbers(sums);
    }

    /** A number, added up over its tags unless they are named, as Prometheus writes them; 0 when there is none. */
    double sum(String name) {
        return sums.getOrDefault(name, 0.0);
    }
}
