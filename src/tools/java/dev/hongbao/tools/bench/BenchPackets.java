package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketKind;
import dev.hongbao.domain.packet.SendCommand;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Money, members and packets for a load. */
final class BenchPackets {
    /** More than one, as the senders are: neither a group's feed nor a sender's wallet is what is measured. */
    static final List<GroupId> GROUPS =
            IntStream.range(0, 16).mapToObj(i -> new GroupId("group-" + i)).toList();

    static final Asset CNY = new Asset("CNY");

    private static final Set<GroupId> MEMBERSHIP = Set.copyOf(GROUPS);
    /** Who has money, once {@link #fund}ed. */
    static final List<Caller> SENDERS = members("sender-%02d", 64);

    static final UserId BACKEND = new UserId("backend");
    private static final long DEPOSIT = 10_000_000_000_000L;
    private static final int MEAN_SHARE = 100;
    private static final Duration EXPIRY = Duration.ofHours(1);

    /** Sends under way at once on a loop; fewer than may wait for a connection. */
    private static final int SENDING = 64;

    private BenchPackets() {}

    /** Members with names of 16 characters. */
    static List<Caller> members(int count) {
        return members("member-%09d", count);
    }

    private static List<Caller> members(String name, int count) {
        List<Caller> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            UserId user = new UserId(String.format(Locale.ROOT, name, i));
            members.add(new Caller(user, MEMBERSHIP, Role.USER, Instant.MAX));
        }
        return members;
    }

    /** Gives the senders enough for any number of packets. */
    static void fund(BenchBed bed) throws Exception {
        fund(bed, SENDERS);
    }

    /** Gives each of {@code members} enough for any number of packets. */
    static void fund(BenchBed bed, List<Caller> members) throws Exception {
        var wallets = bed.engine().wallets();
        BenchBed.await(Future.all(members.stream()
                .map(member -> wallets.deposit(Origin.service(BACKEND), member.user(), CNY, DEPOSIT, newKey()))
                .toList()));
    }

    /** Sends packets of {@code shares} each, over all loops; they open at once. */
    static List<PacketId> send(BenchBed bed, int packets, int shares) throws Exception {
        return send(bed, packets, shares, null);
    }

    /** The same. @param opensAt by Postgres' clock; null for at once */
    static List<PacketId> send(BenchBed bed, int packets, int shares, @Nullable Instant opensAt) throws Exception {
        List<Future<List<PacketId>>> parts = new ArrayList<>();
        int loops = bed.loops().size();
        for (int i = 0; i < loops; i++) {
            int part = packets / loops + (i < packets % loops ? 1 : 0);
            parts.add(new Sending(bed.loops().get(i), part, shares, opensAt).run());
        }
        BenchBed.await(Future.all(parts));
        return parts.stream().flatMap(part -> part.result().stream()).toList();
    }

    /** The sends of one loop. */
    private static final class Sending {
        private final BenchBed.Loop loop;
        private final int wanted;
        private final int shares;
        private final @Nullable Instant opensAt;
        private final List<PacketId> sent = new ArrayList<>();
        private final Promise<List<PacketId>> done = Promise.promise();
        private int begun;

        Sending(BenchBed.Loop loop, int wanted, int shares, @Nullable Instant opensAt) {
            this.loop = loop;
            this.wanted = wanted;
            this.shares = shares;
            this.opensAt = opensAt;
        }

        private SendCommand command(int packet) {
            return SendCommand.of(
                            GROUPS.get(packet % GROUPS.size()),
                            PacketKind.LUCKY,
                            CNY,
                            (long) shares * MEAN_SHARE,
                            shares)
                    .opensAt(opensAt)
                    .expiresIn(EXPIRY)
                    .build();
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
            int packet = begun++;
            loop.services()
                    .packets()
                    .send(SENDERS.get(packet % SENDERS.size()), command(packet), newKey())
                    .map(Packet::id)
                    .onFailure(done::tryFail)
                    .onSuccess(id -> {
                        sent.add(id);
                        next();
                    });
        }
    }

    /** Of a command that nobody has given before. */
    static IdempotencyKey newKey() {
        return new IdempotencyKey(UUID.randomUUID().toString());
    }
}
