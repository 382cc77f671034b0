package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.Contract.Frames;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the code says on the socket and what asyncapi.yaml says are the same. */
class ProtocolTest {
    private static final JsonObject DOCUMENT = Frames.document();

    private static Set<String> namesOf(String operation) {
        JsonObject messages = DOCUMENT.getJsonObject("components").getJsonObject("messages");
        return DOCUMENT.getJsonObject("operations").getJsonObject(operation).getJsonArray("messages").stream()
                .map(reference -> ((JsonObject) reference).getString("$ref"))
                .map(path -> messages.getJsonObject(path.substring(path.lastIndexOf('/') + 1))
                        .getString("name"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> found(String file, String pattern) throws IOException {
        String code = Files.readString(Path.of("src/main/java/dev/hongbao", file));
        return Pattern.compile(pattern)
                .matcher(code)
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyFrameTheServerSendsIsDescribedAndTheOtherWayRound() throws IOException {
        Set<String> sent = found("ws/ServerFrames.java", "begin\\(\\w+, \"([a-z.]+)\"\\)");
        sent.addAll(found("feed/FeedService.java", "\\{\\\\\"type\\\\\":\\\\\"([a-z.]+)\\\\\""));

        assertThat(sent).isEqualTo(namesOf("answer"));
    }

    @Test
    void everyFrameAClientMaySendIsAnsweredAndTheOtherWayRound() throws IOException {
        Set<String> answered = found("ws/Requests.java", "case \"([a-z]+)\" ->");
        answered.addAll(found("ws/Requests.java", "type\\.equals\\(\"([a-z]+)\"\\)"));

        assertThat(answered).isEqualTo(namesOf("request"));
    }

    @Test
    void everyCloseCodeIsDescribed() throws IOException {
        String text = Files.readString(Path.of("src/main/resources/asyncapi.yaml"));
        for (CloseReason reason : CloseReason.values()) {
            assertThat(text).contains("| " + reason.code() + " | `" + reason.wireName() + "` |");
        }
    }

    /** What the document calls final and what its client takes for final are the same. */
    @Test
    void theClientStaysAwayAfterTheCodesThatAreFinal() throws IOException {
        String text = Files.readString(Path.of("src/main/resources/asyncapi.yaml"));
        String client = Files.readString(Path.of("src/main/resources/webroot/hongbao-client.js"));

        assertThat(codes(client, "FINAL_CODES = new Set\\(\\[([^]]+)]"))
                .hasSizeGreaterThan(1)
                .isEqualTo(codes(text, "\\*\\*Close codes\\.\\*\\* ([^:]+) are final:"));
    }

    /** The four digits of the place that a pattern finds. */
    private static Set<String> codes(String text, String pattern) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .flatMap(found ->
                        Pattern.compile("\\d{4}").matcher(found.group(1)).results())
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyEventOfTheFeedIsDescribed() throws IOException {
        Set<String> events = found("feed/EventRow.java", "\"((?:packet|draw|rain)\\.[a-z]+)\"");
        JsonObject schemas = DOCUMENT.getJsonObject("components").getJsonObject("schemas");
        Set<String> described = schemas.getJsonObject("Event").getJsonArray("oneOf").stream()
                .map(one -> ((JsonObject) one).getString("$ref"))
                .map(reference -> schemas.getJsonObject(reference.substring(reference.lastIndexOf('/') + 1)))
                .flatMap(schema ->
                        schema.getJsonObject("properties").getJsonObject("type").getJsonArray("enum").stream())
                .map(Object::toString)
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(events).isEqualTo(described);
    }
}
