package dev.hongbao.tools.chaos.check;

import static dev.hongbao.tools.chaos.check.Forged.PACKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.chaos.check.Call.Kind;
import java.util.EnumSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whether the checker finds what is forged, and nothing else. */
class CheckerTest {
    private static final Call BOB = Call.claim("bob", PACKET, 0);
    private static final Call ERIN = Call.claim("erin", PACKET, 0);

    @Test
    void whatIsRightPasses() {
        assertThat(new Forged().check()).isEmpty();
    }

    @Test
    void noAnswerOfAServerThatWasKilledIsExcused() {
        Forged run = new Forged();
        run.add(10, BOB, Answer.unknown(0, "broken"));
        run.troubles.add(new Seen.Trouble(0, 9_000_000, 11_000_000));

        assertThat(run.check()).isEmpty();
    }

    @Test
    void onlyWhatARestoredPostgresForgotIsExcused() {
        Forged run = new Forged();
        run.losses.add(new Seen.Loss(20_000_000, 30_000_000));
        run.add(25, ERIN, Answer.claimed(201, 2, 150));
        run.add(26, new Call(Kind.DEPOSIT, "alice", "", "d2", 5, 0), Answer.made(201, "9", 5));
        run.add(27, Call.claim("erin", "packet-2", 0), Answer.claimed(201, 0, 1));
        run.add(40, ERIN, Answer.refused(410, "expired"));
        run.add(41, Call.claim("erin", "packet-2", 0), Answer.refused(404, "not-found"));
        run.earlier.add(Forged.claim("e9", 2));
        run.heard.add(new Seen.Heard(3, 10, "packet.sent packet-2", 21_000_000));
        run.heard.add(
                new Seen.Heard(1, 11, "packet.sent packet-3", 29_000_000)); // the other hears of it after the loss
        run.heard.add(new Seen.Heard(2, 11, "packet.sent packet-3", 31_000_000));
        run.heard.add(new Seen.Heard(1, 12, "packet.drained packet-3", 32_000_000));
        run.heard.add(new Seen.Heard(2, 12, "packet.drained packet-3", 32_000_000));
        assertThat(run.check()).isEmpty();

        run.claims.remove(0);
        run.add(42, ERIN, Answer.refused(404, "not-found"));
        assertThat(run.check()).extracting(Violation::rule).contains(Rule.SETTLED, Rule.CLOSED_SET);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aForgedHistoryIsFound(String how, Rule rule, Consumer<Forged> forge) {
        breaks(rule, forge);
    }

    static Stream<Arguments> aForgedHistoryIsFound() {
        return Stream.of(
                forged("another amount later", Rule.SAME_CLAIM, BOB, Answer.claimed(200, 0, 201)),
                forged("another slot later", Rule.SAME_CLAIM, BOB, Answer.claimed(200, 2, 200)),
                forged("a winner is told drained", Rule.SAME_CLAIM, BOB, Answer.refused(410, "drained")),
                forged("two winners of a slot", Rule.ONE_WINNER, ERIN, Answer.claimed(201, 1, 250)),
                forged(
                        "a key sends twice",
                        Rule.SAME_COMMAND,
                        new Call(Kind.SEND, "alice", "3x10", "s1", 600, 1),
                        Answer.made(201, "packet-2", 600)),
                forged(
                        "a key is refused what it has done",
                        Rule.SAME_COMMAND,
                        new Call(Kind.WITHDRAWAL, "alice", "", "w1", 100, 1),
                        Answer.refused(402, "insufficient-funds")),
                forged("a refusal that is none", Rule.CLOSED_SET, ERIN, Answer.refused(404, "not-found")),
                forged("an internal error", Rule.CLOSED_SET, ERIN, Answer.unknown(500, "internal-error")),
                forged(
                        "a 503 that does not say when",
                        Rule.CLOSED_SET,
                        ERIN,
                        Answer.unknown(503, "unknown without Retry-After")),
                forged("no answer", Rule.ANSWERED, BOB, Answer.unknown(0, "timeout")),
                forged("no answer from another server than the killed one", Rule.ANSWERED, run -> {
                    run.troubles.add(new Seen.Trouble(1, 0, Forged.QUIET));
                    run.add(9, BOB, Answer.unknown(0, "timeout"));
                }),
                forged(
                        "unknown in quiet times",
                        Rule.DEFINITE,
                        run -> run.add(110, BOB, Answer.unknown(503, "unknown"))),
                forged(
                        "what must be refused is done",
                        Rule.REFUSED,
                        new Call(Kind.HOSTILE, "mallory", PACKET, "", 3, 0),
                        Answer.made(201, "", 0)),
                forged(
                        "an event comes twice over a socket",
                        Rule.FEED_ONCE,
                        run -> run.heard.add(new Seen.Heard(2, 10, "packet.expired packet-1", 9_000_000))),
                forged(
                        "a feed goes back",
                        Rule.FEED_ONCE,
                        run -> run.heard.add(new Seen.Heard(1, 8, "packet.sent packet-2", 9_000_000))),
                forged(
                        "a place in the feed is two events",
                        Rule.FEED_SAME,
                        run -> run.heard.set(4, new Seen.Heard(2, 10, "packet.drained packet-1", 9_000_000))),
                forged("an event is left out over a socket", Rule.FEED_WHOLE, run -> {
                    run.heard.add(new Seen.Heard(1, 12, "packet.sent packet-2", 9_000_000));
                    run.heard.add(new Seen.Heard(1, 13, "packet.drained packet-2", 9_000_000));
                    run.heard.add(new Seen.Heard(2, 13, "packet.drained packet-2", 9_000_000));
                }),
                forged(
                        "another balance is told",
                        Rule.BALANCE,
                        run -> run.add(121, new Call(Kind.BALANCE, "bob", "", "", 0, 0), Answer.made(200, "", 199))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void forgedBooksAreFound(String how, Rule rule, Consumer<Forged> forge) {
        breaks(rule, forge);
    }

    static Stream<Arguments> forgedBooksAreFound() {
        return Stream.of(
                forged("a settled claim is gone", Rule.SETTLED, run -> run.claims.remove(0)),
                forged(
                        "a settled claim has another slot",
                        Rule.SETTLED,
                        run -> run.claims.set(0, new Rows.Claim(PACKET, "bob", 2, 200))),
                forged(
                        "a settled claim has another amount",
                        Rule.SETTLED,
                        run -> run.claims.set(0, new Rows.Claim(PACKET, "bob", 0, 199))),
                forged(
                        "a claim of nobody",
                        Rule.CLAIMED,
                        run -> run.claims.add(new Rows.Claim(PACKET, "mallory", 2, 150))),
                forged("a user has too much of a campaign", Rule.LIMITED, run -> {
                    run.pools.put(PACKET, new Rows.Pool("campaign-1", 1, false));
                    run.pools.put("packet-2", new Rows.Pool("campaign-1", 1, false));
                    run.claims.add(new Rows.Claim("packet-2", "bob", 0, 1));
                }),
                forged("a deposit is gone", Rule.DONE, run -> run.commands.remove(0)),
                forged(
                        "a deposit has another amount",
                        Rule.DONE,
                        run -> run.commands.set(0, new Rows.Command("deposit", "d1", "c1", 1_001))),
                forged(
                        "a deposit is there twice",
                        Rule.ONCE,
                        run -> run.commands.add(new Rows.Command("deposit", "d1", "c9", 1_000))),
                forged(
                        "a deposit that nobody asked for",
                        Rule.REQUESTED,
                        run -> run.commands.add(new Rows.Command("deposit", "d9", "c9", 5))),
                forged(
                        "a packet has another id",
                        Rule.DONE,
                        run -> run.commands.set(2, new Rows.Command("send", "s1", "packet-9", 600))),
                forged("a refused withdrawal is in the books", Rule.DONE, run -> {
                    run.add(
                            9,
                            new Call(Kind.WITHDRAWAL, "alice", "", "w2", 7, 0),
                            Answer.refused(402, "insufficient-funds"));
                    run.commands.add(new Rows.Command("withdrawal", "w2", "c9", 7));
                }),
                forged("a wallet holds a cent more", Rule.ADDS_UP, run -> run.balances.merge("carol", 1L, Long::sum)),
                forged("a refund came twice", Rule.ADDS_UP, run -> run.balances.merge("alice", 150L, Long::sum)),
                forged("a play cost too much", Rule.ADDS_UP, run -> run.plays.put("carol", -10L)),
                forged("a claim is not told", Rule.EVERY_EVENT, run -> run.events.remove(2)),
                forged("a send is not told", Rule.EVERY_EVENT, run -> run.events.remove(0)),
                forged("a refund is not told", Rule.EVERY_EVENT, run -> run.events.remove(3)),
                forged(
                        "an event says something else later",
                        Rule.SAME_EVENT,
                        run -> run.earlier.add(Forged.claim("e3", 2))),
                forged("an event is not told again", Rule.SAME_EVENT, run -> run.earlier.add(Forged.claim("e9", 1))),
                forged("an event is not delivered", Rule.DELIVERED, run -> run.delivered.remove("e3")),
                forged("two events have one id", Rule.SAME_EVENT, run -> run.events.add(Forged.claim("e2", 2))),
                forged("the events of claims have another order", Rule.EVENT_ORDER, run -> {
                    run.events.add(2, Forged.claim("e5", 1));
                    run.events.remove(3);
                    run.events.add(1, run.events.remove(2));
                }),
                forged(
                        "the event of a claim follows the refund",
                        Rule.EVENT_ORDER,
                        run -> run.events.add(Forged.claim("e5", 2))));
    }

    @Test
    void everyRuleIsTested() {
        assertThat(Stream.concat(aForgedHistoryIsFound(), forgedBooksAreFound()).map(each -> each.get()[1]))
                .containsAll(EnumSet.range(Rule.SETTLED, Rule.FEED_WHOLE));
    }

    private static Arguments forged(String how, Rule rule, Consumer<Forged> forge) {
        return Arguments.of(how, rule, forge);
    }

    /** With one more call and its answer, in the ninth second. */
    private static Arguments forged(String how, Rule rule, Call call, Answer answer) {
        return forged(how, rule, run -> run.add(9, call, answer));
    }

    private static void breaks(Rule rule, Consumer<Forged> forge) {
        Forged run = new Forged();
        forge.accept(run);
        assertThat(run.check()).extracting(Violation::rule).contains(rule);
    }
}
