package dev.hongbao.domain.play;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.Play;
import dev.hongbao.engine.cluster.SettledFacts;
import dev.hongbao.engine.cluster.WireReader;
import dev.hongbao.engine.cluster.WireWriter;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.eventbus.EventBus;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Tells other servers of settled plays: who waits there is answered. Of a draw that a server does not have in its memory nobody waits. */
public final class PlayFacts implements SettledFacts<SettledPlayRequests> {
    private final DrawCatalog catalog;
    private final EventBus bus;

    public PlayFacts(DrawCatalog catalog, EventBus bus) {
        this.catalog = catalog;
        this.bus = bus;
    }

    @Override
    public int kind() {
        return 17;
    }

    @Override
    public String address() {
        return SettledPlayRequests.ADDRESS;
    }

    @Override
    public List<Generation> generations(SettledPlayRequests settled) {
        return settled.generations();
    }

    @Override
    public void write(SettledPlayRequests settled, WireWriter to) {
        to.number(settled.requests().size());
        for (SettledPlayRequest request : settled.requests()) {
            to.uuid(request.request())
                    .uuid(request.attempt())
                    .uuid(request.draw().value())
                    .text(request.user().value());
            writeOptional(request.reason(), to);
            to.number(request.plays().size());
            for (Play play : request.plays()) {
                to.number(play.seq()).number(play.drawn().number());
                writeOptional(play.drawn().code(), to);
                to.instant(play.at());
            }
        }
    }

    @Override
    public void heard(WireReader from) {
        List<SettledPlayRequest> requests = new ArrayList<>();
        for (int left = from.count(); left > 0; left--) {
            UUID request = from.uuid();
            UUID attempt = from.uuid();
            DrawId id = new DrawId(from.uuid());
            UserId user = new UserId(from.text());
            String reason = readOptional(from);
            Draw draw = catalog.cached(id);
            List<Play> plays = new ArrayList<>();
            for (int more = from.count(); more > 0; more--) {
                long seq = from.longNumber();
                int number = from.number();
                String code = readOptional(from);
                var at = from.instant();
                if (draw != null) {
                    plays.add(new Play(id, seq, user, new Play.Drawn(number, draw.prize(number), code), at));
                }
            }
            if (draw != null) {
                requests.add(new SettledPlayRequest(request, attempt, id, user, plays, reason));
            }
        }
        bus.publish(SettledPlayRequests.HEARD, new SettledPlayRequests(requests, List.of()));
    }

    private static void writeOptional(@Nullable String text, WireWriter to) {
        to.number(text == null ? 0 : 1);
        if (text != null) {
            to.text(text);
        }
    }

    private static @Nullable String readOptional(WireReader from) {
        return from.number() == 0 ? null : from.text();
    }
}
