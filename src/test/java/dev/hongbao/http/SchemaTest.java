package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.hongbao.http.Contract.Frames;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each fault is told in words that name what is asked for, wherever the contract asks for it. */
class SchemaTest {
    private static final Contract CONTRACT = Contract.load();
    private static final Frames FRAMES = Frames.load();
    private static final String CAMPAIGN =
            "{'name':'n','asset':'CNY','budget':100,'endsAt':'2027-01-01T00:00:00Z','pool':";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'after':'abc' | #/after must be digits",
                "'after':'' | #/after must have a length of at least 1, #/after must be digits",
                "'after':5 | #/after must be of type string",
            })
    void aFieldOfAFrameWhoseSchemaIsNamedElsewhere(String field, String told) {
        assertThat(faultsOfFrame("{'type':'join','id':'c','group':'family'," + field + "}"))
                .isEqualTo(told);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'id':'1'} | #/type",
                "{'type':'steal','id':'1'} | #/type",
                "{'type':7,'id':'1'} | #/type",
                "{'type':'ping'} | #/id",
                "{'type':'ping','id':7} | #/id",
                "{'type':'ping','id':''} | #/id",
                "{'type':'ping','id':'1','user':'alice'} | #/user",
                "{'type':'claim','id':'1','packet':'nope'} | #/packet",
                "{'type':'join','id':'1','group':'g','after':'-1'} | #/after",
                "{'type':'join','id':'1','group':'no such group!'} | #/group",
                "{'type':'join','id':'1','group':'g','packets':51} | #/packets",
                "{'type':'play','id':'1','key':'k','draw':'DRAW','plays':0} | #/plays",
                "{'type':'play','id':'1','key':'k','draw':'DRAW','plays':11} | #/plays",
                "{'type':'play','id':'1','key':'two words','draw':'DRAW'} | #/key",
                "{'type':'open','id':'1','key':'k','campaign':'DRAW','product':'=cmd','group':'g'} | #/product",
            })
    void aFrameThatDoesNotFitIsRefusedByTheNameOfItsField(String frame, String pointer) {
        assertThat(faultsOfFrame(frame.replace("DRAW", "01939d1e-8c00-7000-8000-000000000001")))
                .startsWith(pointer + " ");
    }

    @Test
    void aFaultOfAPacketInAFrameNamesItsField() {
        String packet = "{'group':'g','kind':'lucky','asset':'CNY','amount':100,'count':2,'split':'foo','opensAt':'x'}";

        assertThat(faultsOfFrame("{'type':'send','id':'c','key':'k','packet':" + packet + "}"))
                .contains(
                        "#/packet/split must be one of [\"double-mean\"", "#/packet/opensAt must be a valid date-time")
                .doesNotContain("null", "does not match");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | #/pool/amount must be at least 1",
                "{'from':0,'to':1} | #/pool/amount/from must be at least 1",
                "{'from':1} | #/pool/amount/to is missing",
                "{'from':1,'to':2,'x':3} | #/pool/amount/x is not a field of this call",
                "true | #/pool/amount must be of type integer or object",
            })
    void ofAlternativesOnlyTheOneThatIsMeantIsTold(String amount, String told) {
        String pool = "{'shares':2,'amount':" + amount + ",'livesSeconds':60}";

        assertThat(faultsOfBody("createCampaign", CAMPAIGN + pool + "}")).isEqualTo(told);
    }

    /** The amount beside the pool is not the pool's, and the pool's shares are there though the campaign has none. */
    @Test
    void whatIsMissingIsLookedForWhereItBelongs() {
        String pool = "{'shares':2,'name':'n','livesSeconds':60}";

        assertThat(faultsOfBody("createCampaign", CAMPAIGN + pool + ",'amount':1}"))
                .contains("#/pool/amount is missing")
                .doesNotContain("#/pool/shares is missing");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'avatar':'http://a/'} | #/avatar must begin with https:// and a host, and hold only the characters of a URL",
                "{'avatar':5} | #/avatar must be of type string or null",
                "{'displayName':5} | #/displayName must be of type string or null",
            })
    void whatMayBeNullIsToldByWhatElseItMayBe(String body, String told) {
        assertThat(faultsOfBody("putProfile", body)).isEqualTo(told);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'displayName': ''}",
                "{'displayName': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}",
                "{'avatar': 'javascript:alert(1)'}",
                "{'avatar': 'https://a@img.example.com/'}",
                "{'nickname': 'x'}"
            })
    void aProfileThatMayNotBeShownIsRefused(String body) {
        assertThat(faultsOfBody("putProfile", body)).startsWith("#/");
    }

    @Test
    void aNoteThatIsNoLineIsRefused() {
        for (String reference : List.of("", "a b", "支付", "x".repeat(65), "a\\n")) {
            assertThat(faultsOfBody("deposit", "{'asset':'CNY','amount':1,'reference':'" + reference + "'}"))
                    .as(reference)
                    .startsWith("#/reference ");
        }
        for (String reason : List.of("", "a\\u0007b", "two\\nlines", "x".repeat(201))) {
            assertThat(faultsOfBody("deposit", "{'asset':'CNY','amount':1,'reason':'" + reason + "'}"))
                    .as(reason)
                    .startsWith("#/reason ");
        }
    }

    private static String faultsOfBody(String call, String body) {
        Schema schema = Objects.requireNonNull(CONTRACT.operations().stream()
                .filter(operation -> operation.id().equals(call))
                .findFirst()
                .orElseThrow()
                .body());
        return told(() -> schema.check(json(body), "#"));
    }

    private static String faultsOfFrame(String frame) {
        JsonObject json = json(frame);
        return told(() -> FRAMES.check(FRAMES.typeOf(json), json));
    }

    private static JsonObject json(String text) {
        return StrictJson.COMMAND.decode(text.replace('\'', '"'));
    }

    private static String told(Runnable check) {
        List<FieldFault> faults = Objects.requireNonNull(catchThrowableOfType(InvalidInputException.class, check::run))
                .faults();
        return faults.stream()
                .map(fault -> fault.pointer() + " " + fault.detail())
                .collect(Collectors.joining(", "));
    }
}
