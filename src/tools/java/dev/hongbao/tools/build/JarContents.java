package dev.hongbao.tools.build;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Writes the list of libraries of each jar (CycloneDX), from the list of all libraries of the build. */
public final class JarContents {
    /** It renders the guide, and is in no jar. */
    private static final String RENDERER = "org.commonmark";

    /** The binaries of Postgres: the build repacks them into the jar with stores. */
    private static final String POSTGRES = "io.zonky.test.postgres";

    private JarContents() {}

    /** @param args the build's {@code pom.xml}, the list of all, and the directory of the result */
    public static void main(String[] args) throws Exception {
        Path list = Path.of(args[1]);
        if (!Files.exists(list)) {
            return; // Maven makes none while it is offline
        }
        JsonObject all = new JsonObject(Files.readString(list));
        Set<String> leftOut = leftOutOfTheServersJar(Path.of(args[0]));
        Path directory = Files.createDirectories(Path.of(args[2]));
        write(directory, all, "hongbao", library -> !group(library).equals(RENDERER));
        write(
                directory,
                all,
                "hongbao-server",
                library -> !group(library).equals(RENDERER)
                        && !group(library).equals(POSTGRES)
                        && !leftOut.contains(group(library) + ":" + library.getString("name")));
    }

    private static String group(JsonObject library) {
        return library.getString("group", "");
    }

    /** Group and artifact of the excludes in the build's only {@code artifactSet}. */
    static Set<String> leftOutOfTheServersJar(Path pom) throws Exception {
        Element set = (Element) DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(pom.toFile())
                .getElementsByTagName("artifactSet")
                .item(0);
        NodeList excludes = set.getElementsByTagName("exclude");
        return IntStream.range(0, excludes.getLength())
                .mapToObj(i -> excludes.item(i).getTextContent().strip())
                .collect(Collectors.toSet());
    }

    private static void write(Path directory, JsonObject all, String jar, Predicate<JsonObject> isIn)
            throws IOException {
        Files.writeString(
                directory.resolve(jar + ".cdx.json"), of(all, jar, isIn).encodePrettily() + "\n");
    }

    /**
     * @param all stays as it is
     * @param isIn whether a library is in the jar
     */
    static JsonObject of(JsonObject all, String jar, Predicate<JsonObject> isIn) {
        JsonObject list = all.copy();
        JsonObject itself = list.getJsonObject("metadata").getJsonObject("component");
        itself.put("name", jar);
        // equal lists have equal numbers
        byte[] named = (list.getString("serialNumber") + " " + jar).getBytes(StandardCharsets.UTF_8);
        list.put("serialNumber", "urn:uuid:" + UUID.nameUUIDFromBytes(named));

        Set<Object> refs = new HashSet<>(Set.of(itself.getString("bom-ref")));
        JsonArray libraries = new JsonArray();
        list.getJsonArray("components").stream()
                .map(JsonObject.class::cast)
                .filter(isIn)
                .forEach(library -> {
                    libraries.add(library);
                    refs.add(library.getString("bom-ref"));
                });
        JsonArray dependencies = new JsonArray();
        list.getJsonArray("dependencies").stream()
                .map(JsonObject.class::cast)
                .filter(each -> refs.contains(each.getString("ref")))
                .forEach(each -> {
                    JsonArray on = new JsonArray();
                    each.getJsonArray("dependsOn", new JsonArray()).stream()
                            .filter(refs::contains)
                            .forEach(on::add);
                    dependencies.add(each.put("dependsOn", on));
                });
        return list.put("components", libraries).put("dependencies", dependencies);
    }
}
