package dev.hongbao.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.exceptions.JedisDataException;

/** The answers and values of {@code claim.lua}, {@code load.lua} and {@code close.lua}, in a Redis without a server. */
@ExtendWith(Servers.class)
class ClaimScriptIT {
    private static final String JOURNAL = "{s}:7-n:journal";
    private static final String PACKET = "{s}:7-n:p:one";
    private static final String OTHER = "{s}:7-n:p:two";
    private static final String CAMPAIGN = "{s}:7-n:c:one";

    private Jedis redis;
    private String replid = "";

    @BeforeEach
    void connect(TestServers servers) {
        redis = new Jedis(URI.create(servers.redisUrl()));
        redis.flushAll();
    }

    @AfterEach
    void disconnect() {
        redis.close();
    }

    private Object call(String script, String... arguments) {
        return call(script, List.of(JOURNAL, PACKET), List.of(arguments));
    }

    private Object call(String script, List<String> keys, List<String> arguments) {
        String text = Script.read(script)
                .replace("@generation@", "7-n")
                .replace("@epoch@", "7")
                .replace("@replid@", replid);
        return redis.eval(text, keys, arguments);
    }

    /** @return the outcomes */
    private String claim(String... users) {
        List<String> arguments = new ArrayList<>(List.of("100", "1", "one", "3", Integer.toString(users.length), "0"));
        arguments.addAll(List.of(users));
        return (String) ((List<?>) call("claim", arguments.toArray(String[]::new))).get(1);
    }

    private void openJournal() {
        redis.xadd(JOURNAL, new StreamEntryID(7, 0), Map.of("open", "7-n"));
    }

    @Test
    void whatCannotBeAppendedGivesNoSlotAndMakesNoJournal() {
        // Given a packet, and a journal that is lost
        openJournal();
        call("load");
        redis.del(JOURNAL);
        assertThatThrownBy(() -> claim("alice"))
                .isInstanceOf(JedisDataException.class)
                .hasMessageContaining("NO_JOURNAL");

        // Then nothing is written, also not where something else has the journal's name
        assertThat(redis.exists(JOURNAL)).isFalse();
        redis.set(JOURNAL, "somebody's");
        assertThatThrownBy(() -> claim("alice")).isInstanceOf(JedisDataException.class);
        assertThat(redis.hgetAll(PACKET)).containsOnly(Map.entry("#", "0"));
    }

    @Test
    void aPacketThatIsLoadedAgainGoesOnWhereItIs() {
        // Given
        openJournal();
        call("load");
        assertThat(claim("alice", "bob")).isEqualTo("+0 +1");

        // When
        call("load");

        // Then
        assertThat(claim("carol", "alice")).isEqualTo("+2 =0");
        assertThat(claim("dave")).isEqualTo("drained");
    }

    /** A claim that is refused by the packet's terms only asks whether its user holds a share: the script is told of 0 slots. */
    @Test
    void aClaimThatOnlyAsksHearsOfItsShareAndGetsNone() {
        // Given
        openJournal();
        call("load");
        assertThat(claim("alice", "bob")).isEqualTo("+0 +1");

        // When
        Object asked = call("claim", "100", "1", "one", "0", "2", "0", "bob", "carol");

        // Then
        assertThat(((List<?>) asked).get(1)).isEqualTo("=1 drained");
        assertThat(redis.hgetAll(PACKET)).isEqualTo(Map.of("#", "2", "alice", "0", "bob", "1"));
    }

    /** Its data may lack settled claims. */
    @Test
    void aRedisOfAnotherHistoryRefusesNobody() {
        // Given
        openJournal();
        call("load");
        claim("alice");

        // When
        replid = "another";

        // Then
        assertThat(claim("alice", "bob", "carol")).isEqualTo("=0 +1 +2");
        assertThatThrownBy(() -> claim("dave")).hasMessageContaining("NO_JOURNAL");
        assertThatThrownBy(() -> call("claim", "100", "1", "one", "0", "1", "0", "dave"))
                .hasMessageContaining("NO_JOURNAL");
        redis.hset(PACKET, "!", "2");
        assertThatThrownBy(() -> claim("dave")).hasMessageContaining("NO_JOURNAL");
    }

    /** With the journal, winners are lost that are not settled: their slots are given again. */
    @Test
    void aRedisThatLostItsJournalRefusesNobody() {
        // Given
        openJournal();
        call("load");
        claim("alice", "bob", "carol");
        String close = "one cancelled host";
        assertThat(((List<?>) call("close", close, "unclaimed")).get(1)).isEqualTo("claimed");

        // When
        redis.del(JOURNAL);

        // Then
        assertThatThrownBy(() -> claim("dave")).hasMessageContaining("NO_JOURNAL");
        assertThatThrownBy(() -> call("close", close, "unclaimed")).hasMessageContaining("NO_JOURNAL");
        assertThat(claim("alice")).isEqualTo("=0");
    }

    /** Winners of a demoted primary are void, and their packet is unclaimed. */
    @Test
    void aRedisOfAnotherHistoryCallsNoPacketClaimed() {
        openJournal();
        call("load");
        replid = "another";
        claim("alice");

        assertThatThrownBy(() -> call("close", "one cancelled host", "unclaimed"))
                .hasMessageContaining("NO_JOURNAL");
    }

    /** Its counts may lack settled claims, so a user might get more than a campaign allows. */
    @Test
    void aRedisOfAnotherHistoryCountsForNoLimit() {
        // Given a campaign that gives each user two shares
        openJournal();
        call("load");
        redis.hset(CAMPAIGN, "#", "");
        List<String> keys = List.of(JOURNAL, PACKET, CAMPAIGN);
        List<String> claim = List.of("100", "1", "one", "3", "1", "3", "2", "0", "0", "20000", "tea");
        assertThat(((List<?>) call("claim", keys, with(claim, "alice"))).get(1)).isEqualTo("+0");
        Map<String, String> counts = redis.hgetAll(CAMPAIGN);

        // When
        replid = "another";

        // Then
        assertThatThrownBy(() -> call("claim", keys, with(claim, "bob"))).hasMessageContaining("NO_JOURNAL");
        assertThat(redis.hgetAll(CAMPAIGN)).isEqualTo(counts);
        assertThat(((List<?>) call("claim", keys, with(claim, "alice"))).get(1)).isEqualTo("=0");
    }

    private static List<String> with(List<String> arguments, String last) {
        List<String> all = new ArrayList<>(arguments);
        all.add(last);
        return all;
    }

    @Test
    void eachPacketOfABatchHoldsWhatItGave() {
        // Given two packets
        openJournal();
        call("load", List.of(JOURNAL, PACKET, OTHER), List.of());

        // When both are claimed in one batch
        List<String> claims =
                List.of("100", "2", "one", "3", "2", "0", "alice", "bob", "two", "3", "2", "0", "bob", "carol");
        Object given = call("claim", List.of(JOURNAL, PACKET, OTHER), claims);

        // Then neither holds what the other one gave
        assertThat(((List<?>) given).get(1)).isEqualTo("+0 +1 +0 +1");
        assertThat(redis.hgetAll(PACKET)).isEqualTo(Map.of("#", "2", "alice", "0", "bob", "1"));
        assertThat(redis.hgetAll(OTHER)).isEqualTo(Map.of("#", "2", "bob", "0", "carol", "1"));
    }

    /** A slot that is given after the close is void in the settlement, so its claim was accepted wrongly. */
    @Test
    void aPacketThatIsClosedGivesNoMoreButWhatIsHeld() {
        // Given a packet of which one share is held, and its close in the journal
        openJournal();
        call("load");
        claim("alice");
        assertThat(((List<?>) call("close", "one")).get(1)).isEqualTo("closing");
        assertThat(((List<?>) call("close", "one")).get(1)).isEqualTo("closed");

        // When, then
        assertThat(claim("bob", "alice")).isEqualTo("closed =0");
        assertThat(redis.hget(PACKET, "#")).isEqualTo("1");
        assertThat(redis.xlen(JOURNAL)).isEqualTo(3);
    }
}
