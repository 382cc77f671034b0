package dev.hongbao.tools.chaos.check;

import static dev.hongbao.tools.chaos.check.Forged.PACKET;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Heard;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whether the checker finds what is forged, and nothing else. */
class CheckerTest {
    private static final Call BOB = Call.claim("bob", PACKET, 0);

    @Test
    @DisplayName("Given a run in which all is right, when it is checked, then no rule is broken")
    void whatIsRightPasses() {
        assertThat(new Forged().check()).isEmpty();
    }

    @Test
    @DisplayName("Given no answer from a server that was being killed, when it is checked, then no rule is broken")
    void troubleExcuses() {
        Forged run = new Forged();
        run.add(10, BOB, Answer.unknown(0, "broken"));
        run.troubles.add(new Trouble(0, 9_000_000, 11_000_000));

        assertThat(run.check()).isEmpty();
    }

    @Test
    @DisplayName(
            "Given a Postgres that was restored, when what it forgot is answered otherwise later, then no rule is broken; what came before is kept")
    void onlyWhatWasLostIsExcused() {
        Forged run = new Forged();
        run.losses.add(new Loss(20_000_000, 30_000_000));
        run.add(25, Call.claim("erin", PACKET, 0), Answer.claimed(201, 2, 150));
        run.add(26, new Call(Kind.DEPOSIT, "alice", "", "d2", 5, 0), Answer.made(201, "9", 5));
        run.add(27, Call.claim("erin", "packet-2", 0), Answer.claimed(201, 0, 1));
        run.add(40, Call.claim("erin", PACKET, 0), Answer.refused(410, "expired"));
        run.add(41, Call.claim("erin", "packet-2", 0), Answer.refused(404, "not-found"));
        run.earlier.add(Forged.claim("e9", 2));
        run.heard.add(new Heard(3, 10, "packet.sent packet-2", 21_000_000));
        run.heard.add(new Heard(1, 11, "packet.sent packet-3", 29_000_000)); // the other is told when all is well again
        run.heard.add(new Heard(2, 11, "packet.sent packet-3", 31_000_000));
        run.heard.add(new Heard(1, 12, "packet.drained packet-3", 32_000_000));
        run.heard.add(new Heard(2, 12, "packet.drained packet-3", 32_000_000));
        assertThat(run.check()).isEmpty();

        run.claims.remove(0);
        run.add(42, Call.claim("erin", PACKET, 0), Answer.refused(404, "not-found"));
        assertThat(run.check())
                .extracting(Violation::rule)
                .contains(ClaimInvariants.SETTLED, AnswerInvariants.CLOSED_SET);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @DisplayName("Given a forged history, when it is checked, then the rule that it breaks is named")
    void aForgedHistoryIsFound(String how, String rule, Consumer<Forged> forge) {
        breaks(rule, forge);
    }

    static Stream<Arguments> aForgedHistoryIsFound() {
        return Stream.of(
                forged(
                        "another amount later",
                        ClaimInvariants.SAME,
                        run -> run.add(9, BOB, Answer.claimed(200, 0, 201))),
                forged("another slot later", ClaimInvariants.SAME, run -> run.add(9, BOB, Answer.claimed(200, 2, 200))),
                forged(
                        "a winner is told drained",
                        ClaimInvariants.SAME,
                        run -> run.add(9, BOB, Answer.refused(410, "drained"))),
                forged(
                        "two winners of a slot",
                        ClaimInvariants.ONE_SLOT,
                        run -> run.add(9, Call.claim("erin", PACKET, 0), Answer.claimed(201, 1, 250))),
                forged(
                        "a key sends twice",
                        CommandInvariants.SAME,
                        run -> run.add(
                                9,
                                new Call(Kind.SEND, "alice", "3x10", "s1", 600, 1),
                                Answer.made(201, "packet-2", 600))),
                forged(
                        "a key is refused what it has done",
                        CommandInvariants.SAME,
                        run -> run.add(
                                9,
                                new Call(Kind.WITHDRAWAL, "alice", "", "w1", 100, 1),
                                Answer.refused(402, "insufficient-funds"))),
                forged(
                        "a refusal that is none",
                        AnswerInvariants.CLOSED_SET,
                        run -> run.add(9, Call.claim("erin", PACKET, 0), Answer.refused(404, "not-found"))),
                forged(
                        "an internal error",
                        AnswerInvariants.CLOSED_SET,
                        run -> run.add(9, Call.claim("erin", PACKET, 0), Answer.unknown(500, "internal-error"))),
                forged(
                        "a 503 that does not say when",
                        AnswerInvariants.CLOSED_SET,
                        run -> run.add(
                                9, Call.claim("erin", PACKET, 0), Answer.unknown(503, "unknown without Retry-After"))),
                forged("no answer", AnswerInvariants.ANSWERED, run -> run.add(9, BOB, Answer.unknown(0, "timeout"))),
                forged("no answer from another server than the killed one", AnswerInvariants.ANSWERED, run -> {
                    run.troubles.add(new Trouble(1, 0, Forged.QUIET));
                    run.add(9, BOB, Answer.unknown(0, "timeout"));
                }),
                forged(
                        "unknown in quiet times",
                        AnswerInvariants.QUIET,
                        run -> run.add(110, BOB, Answer.unknown(503, "unknown"))),
                forged(
                        "what must be refused is done",
                        AnswerInvariants.HOSTILE,
                        run -> run.add(
                                9, new Call(Kind.HOSTILE, "mallory", PACKET, "", 3, 0), Answer.made(201, "", 0))),
                forged(
                        "an event comes twice over a socket",
                        FeedInvariants.ONCE,
                        run -> run.heard.add(new Heard(2, 10, "packet.expired packet-1", 9_000_000))),
                forged(
                        "a feed goes back",
                        FeedInvariants.ONCE,
                        run -> run.heard.add(new Heard(1, 8, "packet.sent packet-2", 9_000_000))),
                forged(
                        "a place in the feed is two events",
                        FeedInvariants.SAME,
                        run -> run.heard.set(4, new Heard(2, 10, "packet.drained packet-1", 9_000_000))),
                forged("an event is left out over a socket", FeedInvariants.ALL, run -> {
                    run.heard.add(new Heard(1, 12, "packet.sent packet-2", 9_000_000));
                    run.heard.add(new Heard(1, 13, "packet.drained packet-2", 9_000_000));
                    run.heard.add(new Heard(2, 13, "packet.drained packet-2", 9_000_000));
                }),
                forged(
                        "another balance is told",
                        WalletInvariants.TOLD,
                        run -> run.add(121, new Call(Kind.BALANCE, "bob", "", "", 0, 0), Answer.made(200, "", 199))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    @DisplayName("Given forged books, when they are checked, then the rule that they break is named")
    void forgedBooksAreFound(String how, String rule, Consumer<Forged> forge) {
        breaks(rule, forge);
    }

    static Stream<Arguments> forgedBooksAreFound() {
        return Stream.of(
                forged("a settled claim is gone", ClaimInvariants.SETTLED, run -> run.claims.remove(0)),
                forged(
                        "a settled claim has another slot",
                        ClaimInvariants.SETTLED,
                        run -> run.claims.set(0, new Rows.Claim(PACKET, "bob", 2, 200))),
                forged(
                        "a settled claim has another amount",
                        ClaimInvariants.SETTLED,
                        run -> run.claims.set(0, new Rows.Claim(PACKET, "bob", 0, 199))),
                forged(
                        "a claim of nobody",
                        ClaimInvariants.ASKED,
                        run -> run.claims.add(new Rows.Claim(PACKET, "mallory", 2, 150))),
                forged("a user has too much of a campaign", ClaimInvariants.LIMITED, run -> {
                    run.pools.put(PACKET, new Rows.Pool("campaign-1", 1, false));
                    run.pools.put("packet-2", new Rows.Pool("campaign-1", 1, false));
                    run.claims.add(new Rows.Claim("packet-2", "bob", 0, 1));
                }),
                forged("a deposit is gone", CommandInvariants.DONE, run -> run.commands.remove(0)),
                forged(
                        "a deposit has another amount",
                        CommandInvariants.DONE,
                        run -> run.commands.set(0, new Rows.Command("deposit", "d1", "c1", 1_001))),
                forged(
                        "a deposit is there twice",
                        CommandInvariants.ONCE,
                        run -> run.commands.add(new Rows.Command("deposit", "d1", "c9", 1_000))),
                forged(
                        "a deposit that nobody asked for",
                        CommandInvariants.ASKED,
                        run -> run.commands.add(new Rows.Command("deposit", "d9", "c9", 5))),
                forged(
                        "a packet has another id",
                        CommandInvariants.DONE,
                        run -> run.commands.set(2, new Rows.Command("send", "s1", "packet-9", 600))),
                forged("a refused withdrawal is in the books", CommandInvariants.DONE, run -> {
                    run.add(
                            9,
                            new Call(Kind.WITHDRAWAL, "alice", "", "w2", 7, 0),
                            Answer.refused(402, "insufficient-funds"));
                    run.commands.add(new Rows.Command("withdrawal", "w2", "c9", 7));
                }),
                forged(
                        "a wallet holds a cent more",
                        WalletInvariants.ADDS_UP,
                        run -> run.balances.merge("carol", 1L, Long::sum)),
                forged(
                        "a refund came twice",
                        WalletInvariants.ADDS_UP,
                        run -> run.balances.merge("alice", 150L, Long::sum)),
                forged("a play cost too much", WalletInvariants.ADDS_UP, run -> run.plays.put("carol", -10L)),
                forged("a claim is not told", OutboxInvariants.EVERYTHING, run -> run.told.remove(2)),
                forged("a send is not told", OutboxInvariants.EVERYTHING, run -> run.told.remove(0)),
                forged("a refund is not told", OutboxInvariants.EVERYTHING, run -> run.told.remove(3)),
                forged(
                        "an event says something else later",
                        OutboxInvariants.STABLE,
                        run -> run.earlier.add(Forged.claim("e3", 2))),
                forged(
                        "an event is not told again",
                        OutboxInvariants.STABLE,
                        run -> run.earlier.add(Forged.claim("e9", 1))),
                forged("an event is not delivered", OutboxInvariants.DELIVERED, run -> run.delivered.remove("e3")),
                forged("two events have one id", OutboxInvariants.STABLE, run -> run.told.add(Forged.claim("e2", 2))),
                forged("claims are told in another order", OutboxInvariants.ORDER, run -> {
                    run.told.add(2, Forged.claim("e5", 1));
                    run.told.remove(3);
                    run.told.add(1, run.told.remove(2));
                }),
                forged(
                        "a claim is told after the refund",
                        OutboxInvariants.ORDER,
                        run -> run.told.add(Forged.claim("e5", 2))));
    }

    private static Arguments forged(String how, String rule, Consumer<Forged> forge) {
        return Arguments.of(how, rule, forge);
    }

    private static void breaks(String rule, Consumer<Forged> forge) {
        Forged run = new Forged();
        forge.accept(run);
        assertThat(run.check()).extracting(Violation::rule).contains(rule);
    }
}
