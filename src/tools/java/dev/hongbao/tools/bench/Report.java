package dev.hongbao.tools.bench;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** One page of all results that are there, with tables and plots, that needs nothing but itself. */
final class Report {
    private static final String FILE = "report.html";

    private Report() {}

    /** Writes it anew from the {@code *.json} of a directory; returns the file. */
    static Path write(Path results) throws IOException {
        JsonArray all = new JsonArray();
        for (Bench.Kind bench : Bench.Kind.values()) {
            Path file = results.resolve(bench.wireName() + ".json");
            if (Files.exists(file)) {
                all.add(new JsonObject(Files.readString(file)));
            }
        }
        String page = resource("bench/report.html");
        page = page.replace("@uplot-style@", resource("webroot/vendor/uplot.css"))
                .replace("@style@", resource("bench/report.css"))
                .replace("@uplot@", resource("webroot/vendor/uplot.js"))
                .replace("@script@", resource("bench/report.js"))
                // Within a script element no text may look like its end.
                .replace("@results@", all.encode().replace("<", "\\u003c"));
        return Files.writeString(results.resolve(FILE), page);
    }

    private static String resource(String name) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(Report.class.getClassLoader().getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
