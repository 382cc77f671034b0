package dev.hongbao.tools.chaos;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.domain.fairness.Evidence;
import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.server.Reconciler;
import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.check.Rows;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.World;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What is asked when faults and clients are gone: the rest of every packet, what each winner has, and whether the books are right. */
final class Quiet {
    static final String REFUNDED = "I11 what is expired is refunded";
    static final String BOOKS = "the books";
    static final String PROOF = "every closed packet's proof verifies";

    private static final long DUE_LIMIT_MILLIS = 30_000;
    private static final long LOOK_MILLIS = 100;
    private static final int MOST = 300;

    private final ChaosBed bed;
    private final Supplier<Api> apis;
    private final Api api;
    private final Consumer<String> progress;
    private final List<Violation> found = new ArrayList<>();

    /** @param api of {@code apis}, for its thread alone */
    Quiet(ChaosBed bed, Supplier<Api> apis, Api api, Consumer<String> progress) {
        this.bed = bed;
        this.apis = apis;
        this.api = api;
        this.progress = progress;
    }

    /** Everything, in order. @return what is wrong */
    List<Violation> ask() throws Exception {
        progress.accept("claiming what is left of open packets");
        found.addAll(LastShares.claim(bed.postgres(), bed.ports().size(), apis));
        progress.accept("waiting for refunds");
        awaitRefunds();
        progress.accept("asking winners, wallets and proofs again");
        Rows rows = RowReader.read(bed.postgres());
        askAgain(rows);
        verify(rows);
        progress.accept("reconciling the books");
        reconcile();
        return found;
    }

    private void awaitRefunds() throws Exception {
        // Also what expires in a moment: then nothing moves any more.
        String due = "select id from packet where closed_at is null and expires_at < now() + interval '1 minute'"
                + " union all select packet from refund_due";
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DUE_LIMIT_MILLIS);
        List<List<String>> waiting = bed.postgres().rows(due);
        while (!waiting.isEmpty() && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            waiting = bed.postgres().rows(due);
        }
        waiting.forEach(packet -> found.add(new Violation(REFUNDED, packet + " is not", List.of())));
    }

    private void askAgain(Rows rows) {
        for (int i = 0; i < MOST && !rows.claims().isEmpty(); i++) {
            Rows.Claim claim = rows.claims().get((int) ((long) i * rows.claims().size() / MOST));
            api.perform(Call.claim(claim.user(), claim.packet(), i % bed.ports().size()));
        }
        for (String user : World.users()) {
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
        StringBuilder evidence =
                new StringBuilder(api.readAgain(0, path, member).encode());
        String cursor = "";
        do {
            JsonObject page = api.readAgain(0, path + "/claims?limit=200" + cursor, member);
            evidence.append('\n').append(page.encode());
            cursor = page.getString("next") == null ? "" : "&cursor=" + page.getString("next");
        } while (!cursor.isEmpty());
        try {
            List<String> wrong = Evidence.read(
                            new ByteArrayInputStream(evidence.toString().getBytes(StandardCharsets.UTF_8)))
                    .contradictions();
            if (!wrong.isEmpty()) {
                found.add(new Violation(PROOF, packet + ": " + wrong, List.of()));
            }
        } catch (InvalidInputException unreadable) {
            found.add(new Violation(PROOF, packet + ": " + unreadable.faults(), List.of()));
        }
    }

    /** What a server mends by itself has to be mended in a while. */
    private void reconcile() throws Exception {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DUE_LIMIT_MILLIS);
        List<Finding> wrong = checkBooks();
        while (!wrong.isEmpty() && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            wrong = checkBooks();
        }
        wrong.forEach(finding -> found.add(new Violation(
                finding.invariant() + " " + BOOKS + ": " + finding.name(),
                finding.lines().toString(),
                List.of())));
    }

    private List<Finding> checkBooks() throws Exception {
        return Reconciler.run(bed.stores(), finding -> {}).stream()
                .filter(finding -> !finding.isClean())
                .toList();
    }
}
