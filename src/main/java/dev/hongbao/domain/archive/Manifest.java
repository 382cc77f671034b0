package dev.hongbao.domain.archive;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.YearMonth;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the files of a month hold. The same rows give the same bytes.
 *
 * @param origin whose month it is
 * @param previous SHA-256 of the manifest of the month that was archived before this one; null for the first
 * @param parts a file each
 * @param sums of the transfers
 */
record Manifest(YearMonth month, Origin origin, @Nullable String previous, List<Part> parts, List<Sum> sums) {
    private static final int FORMAT = 1;

    Manifest {
        parts = List.copyOf(parts);
        sums = List.copyOf(sums);
    }

    /**
     * Where it comes from.
     *
     * @param release the program's version
     * @param schema the latest migration
     */
    record Origin(UUID installation, String release, String schema) {}

    /** Bytes, and their SHA-256. */
    record Digest(long bytes, String sha256) {
        private JsonObject json() {
            return new JsonObject().put("bytes", bytes).put("sha256", sha256);
        }

        private static Digest of(JsonObject json) {
            return new Digest(json.getLong("bytes"), json.getString("sha256"));
        }
    }

    /**
     * The rows of a table.
     *
     * @param text the rows as CSV
     * @param file the same as they lie in the file, with gzip
     */
    record Part(String table, long rows, Digest text, Digest file) {
        private JsonObject json(YearMonth month) {
            return new JsonObject()
                    .put("table", table)
                    .put("file", fileName(month, table))
                    .put("rows", rows)
                    .put("csv", text.json())
                    .put("gzip", file.json());
        }

        private static Part of(JsonObject json) {
            return new Part(
                    json.getString("table"),
                    json.getLong("rows"),
                    Digest.of(json.getJsonObject("csv")),
                    Digest.of(json.getJsonObject("gzip")));
        }
    }

    /** How many transfers of a kind moved an asset, and how much, in minor units. */
    record Sum(String asset, String kind, long transfers, BigInteger amount) {
        private JsonObject json() {
            // As text: it may be more than a long holds.
            return new JsonObject()
                    .put("asset", asset)
                    .put("kind", kind)
                    .put("transfers", transfers)
                    .put("amount", amount.toString());
        }

        private static Sum of(JsonObject json) {
            return new Sum(
                    json.getString("asset"),
                    json.getString("kind"),
                    json.getLong("transfers"),
                    new BigInteger(json.getString("amount")));
        }
    }

    static String fileName(YearMonth month) {
        return month + ".manifest.json";
    }

    static String fileName(YearMonth month, String table) {
        return month + "." + table + ".csv.gz";
    }

    byte[] toBytes() {
        return (new JsonObject()
                                .put("format", FORMAT)
                                .put("month", month.toString())
                                .put("installation", origin.installation.toString())
                                .put("release", origin.release)
                                .put("schema", origin.schema)
                                .put("previous", previous)
                                .put(
                                        "tables",
                                        new JsonArray(parts.stream()
                                                .map(part -> part.json(month))
                                                .collect(Collectors.toList())))
                                .put(
                                        "sums",
                                        new JsonArray(
                                                sums.stream().map(Sum::json).collect(Collectors.toList())))
                                .encodePrettily()
                        + "\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** @throws IllegalArgumentException for what is no manifest of this format */
    static Manifest of(byte[] bytes) {
        try {
            JsonObject json = new JsonObject(new String(bytes, StandardCharsets.UTF_8));
            if (!Objects.equals(json.getInteger("format"), FORMAT)) {
                throw new IllegalArgumentException("its format is " + json.getValue("format") + ", and not " + FORMAT);
            }
            return new Manifest(
                    YearMonth.parse(json.getString("month")),
                    new Origin(
                            UUID.fromString(json.getString("installation")),
                            json.getString("release"),
                            json.getString("schema")),
                    json.getString("previous"),
                    json.getJsonArray("tables").stream()
                            .map(part -> Part.of((JsonObject) part))
                            .toList(),
                    json.getJsonArray("sums").stream()
                            .map(sum -> Sum.of((JsonObject) sum))
                            .toList());
        } catch (IllegalArgumentException fault) {
            throw fault;
        } catch (RuntimeException unreadable) {
            throw new IllegalArgumentException("it is no manifest: " + unreadable.getMessage(), unreadable);
        }
    }
}
