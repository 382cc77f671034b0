package dev.hongbao.bench;

import dev.hongbao.command.Caller;
import dev.hongbao.command.GroupId;
import dev.hongbao.command.IdempotencyKey;
import dev.hongbao.command.Role;
import dev.hongbao.command.UserId;
import dev.hongbao.ledger.Asset;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketId;
import dev.hongbao.packet.PacketKind;
import dev.hongbao.packet.SendCommand;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Money, members and packets for a load. */
final class BenchPackets {
    static final GroupId GROUP = new GroupId("bench");
    static final Asset CNY = new Asset("CNY");

    private static final Caller SENDER = member(new UserId("sender"));
    private static final long DEPOSIT = 10_000_000_000_000L;
    private static final int MEAN_SHARE = 100;
    private static final Duration EXPIRY = Duration.ofHours(1);

    /** Sends under way at once on a loop; fewer than may wait for a connection. */
    private static final int SENDING = 64;

    private BenchPackets() {}

    /** Members with names of 16 characters. */
    static List<Caller> members(int count) {
        List<Caller> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            members.add(member(new UserId(String.format("member-%09d", i))));
        }
        return members;
    }

    private static Caller member(UserId user) {
        return new Caller(user, Set.of(GROUP), Role.USER, Instant.MAX);
    }

    /** Gives the sender enough for any number of packets. */
    static void fund(BenchBed bed) throws Exception {
        BenchBed.await(bed.engine().wallets().deposit(SENDER.user(), CNY, DEPOSIT, newKey()));
    }

    /** Sends packets of {@code shares} each, over all loops; they open at once. */
    static List<PacketId> send(BenchBed bed, int packets, int shares) throws Exception {
        List<Future<List<PacketId>>> parts = new ArrayList<>();
        int loops = bed.loops().size();
        for (int i = 0; i < loops; i++) {
            int part = packets / loops + (i < packets % loops ? 1 : 0);
            parts.add(new Sending(bed.loops().get(i), part, shares).run());
        }
        BenchBed.await(Future.all(parts));
        return parts.stream().flatMap(part -> part.result().stream()).toList();
    }

    /** The sends of one loop. */
    private static final class Sending {
        private final BenchBed.Loop loop;
        private final int wanted;
        private final SendCommand command;
        private final List<PacketId> sent = new ArrayList<>();
        private final Promise<List<PacketId>> done = Promise.promise();
        private int begun;

        Sending(BenchBed.Loop loop, int wanted, int shares) {
            this.loop = loop;
            this.wanted = wanted;
            this.command = new SendCommand(
                    GROUP,
                    PacketKind.LUCKY,
                    CNY,
                    (long) shares * MEAN_SHARE,
                    shares,
                    null,
                    null,
                    null,
                    null,
                    List.of(),
                    null,
                    null,
                    EXPIRY);
        }

        Future<List<PacketId>> run() {
            loop.context().runOnContext(now -> {
                for (int i = 0; i < SENDING; i++) {
                    next();
                }
            });
            return done.future();
        }

        private void next() {
            if (begun == wanted) {
                if (sent.size() == wanted) {
                    done.tryComplete(sent);
                }
                return;
            }
            begun++;
            loop.services()
                    .packets()
                    .send(SENDER, command, newKey())
                    .map(Packet::id)
                    .onFailure(done::tryFail)
                    .onSuccess(id -> {
                        sent.add(id);
                        next();
                    });
        }
    }

    private static IdempotencyKey newKey() {
        return new IdempotencyKey(UUID.randomUUID().toString());
    }
}
