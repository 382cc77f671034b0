package dev.hongbao.tools.chaos;

import dev.hongbao.fairness.Evidence;
import dev.hongbao.server.Operations;
import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.check.Operation;
import dev.hongbao.tools.chaos.check.Rows;
import dev.hongbao.tools.chaos.check.Rule;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.Crowd;
import dev.hongbao.tools.local.Threads;
import dev.hongbao.values.InvalidInputException;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The questions after the last fault: the last shares of all packets, refunds, winners, wallets, proofs and books. Blocking; for one thread. */
final class Quiet {
    /** Calls and packets of a sample. */
    private static final int MOST = 300;

    private static final int THREADS = 8;

    /** Of a packet with more shares left, one is claimed. */
    private static final int MOST_LEFT = 200;

    private static final long LIMIT_MILLIS = 30_000;
    private static final long LOOK_MILLIS = 100;

    private static final String OPEN = "select p.id, p.count - count(t.slot) from packet as p left join transfer as t"
            + " on t.subject = p.id and t.slot is not null where p.closed_at is null"
            + " and p.expires_at > now() + interval '1 minute' group by p.id order by p.id";

    /** Also what expires in a moment: then nothing moves any more. */
    private static final String DUE =
            "select id from packet where closed_at is null and expires_at < now() + interval '1 minute'"
                    + " union all select packet from refund_due";

    private final ChaosBed bed;
    private final Api api;
    private final Consumer<String> progress;
    private final List<Violation> found = new ArrayList<>();

    Quiet(ChaosBed bed, Api api, Consumer<String> progress) {
        this.bed = bed;
        this.api = api;
        this.progress = progress;
    }

    List<Violation> ask() throws Exception {
        progress.accept("claiming what is left of open packets");
        List<Callable<Stream<Violation>>> claims = new ArrayList<>();
        for (List<String> packet : bed.postgres().rows(OPEN)) {
            claims.add(() -> claimAll(packet.get(0), Integer.parseInt(packet.get(1))));
        }
        Threads.all(THREADS, claims).forEach(each -> each.forEach(found::add));
        progress.accept("waiting for refunds");
        awaitNone(() -> bed.postgres().rows(DUE))
                .forEach(packet -> found.add(new Violation(Rule.REFUNDED, packet + " is not refunded")));
        progress.accept("asking winners, wallets and proofs again");
        Rows rows = RowReader.read(bed.postgres());
        askAgain(rows);
        verify(rows);
        progress.accept("reconciling the books");
        awaitNone(() -> Operations.reconcile(bed.stores(), finding -> {}).stream()
                        .filter(finding -> !finding.isClean())
                        .toList())
                .forEach(finding -> found.add(new Violation(
                        Rule.RECONCILED, finding.invariant() + " " + finding.name() + " " + finding.lines())));
        return found;
    }

    /** Claims a packet to its last share, and one more. */
    private Stream<Violation> claimAll(String packet, int left) {
        int wanted = left > MOST_LEFT ? 1 : left;
        for (int i = 0; i < wanted; i++) {
            Operation claimed = api.perform(Call.claim("probe-last-" + i, packet, i % api.servers()));
            if (!claimed.answer().isOk()) {
                return Stream.of(
                        new Violation(Rule.CLAIMABLE, packet + " has " + (left - i) + " shares left", claimed));
            }
        }
        if (wanted < left) {
            return Stream.of();
        }
        Operation late = api.perform(Call.claim("probe-last-" + left, packet, left % api.servers()));
        return late.answer().problem().equals("drained")
                ? Stream.of()
                : Stream.of(new Violation(Rule.CLAIMABLE, packet + " has no share left", late));
    }

    /** Looks until there is nothing: the servers need some time. @return the rest after the limit */
    private static <T> List<T> awaitNone(Callable<List<T>> look) throws Exception {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
        List<T> rest = look.call();
        while (!rest.isEmpty() && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            rest = look.call();
        }
        return rest;
    }

    private void askAgain(Rows rows) {
        for (int i = 0; i < MOST && !rows.claims().isEmpty(); i++) {
            Rows.Claim claim = rows.claims().get((int) ((long) i * rows.claims().size() / MOST));
            api.perform(Call.claim(claim.user(), claim.packet(), i % api.servers()));
        }
        for (String user : Crowd.USERS) {
            api.perform(new Call(Kind.BALANCE, user, "", "", 0, 0));
        }
    }

    private void verify(Rows rows) throws IOException, InterruptedException {
        Map<String, String> members = new HashMap<>();
        rows.claims().forEach(claim -> members.put(claim.packet(), claim.user()));
        int step = 1 + rows.packets().size() / MOST;
        for (int i = 0; i < rows.packets().size(); i += step) {
            Rows.Packet packet = rows.packets().get(i);
            if (packet.closed()) {
                verify(packet.id(), members.getOrDefault(packet.id(), packet.sender()));
            }
        }
    }

    private void verify(String packet, String member) throws IOException, InterruptedException {
        String path = "/v1/packets/" + packet;
        StringBuilder evidence = new StringBuilder(api.readAgain(path, member).encode());
        String cursor = "";
        do {
            JsonObject page = api.readAgain(path + "/claims?limit=200" + cursor, member);
            evidence.append('\n').append(page.encode());
            cursor = page.getString("next") == null ? "" : "&cursor=" + page.getString("next");
        } while (!cursor.isEmpty());
        byte[] bytes = evidence.toString().getBytes(StandardCharsets.UTF_8);
        try {
            List<String> wrong = Evidence.read(new ByteArrayInputStream(bytes)).contradictions();
            if (!wrong.isEmpty()) {
                found.add(new Violation(Rule.PROVED, packet + ": " + wrong));
            }
        } catch (InvalidInputException unreadable) {
            found.add(new Violation(Rule.PROVED, packet + ": " + unreadable.faults()));
        }
    }
}
