package dev.hongbao.feed;

import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.http.Call;
import dev.hongbao.http.Call.Preferences;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.CallsInFlight.WaitingPolls;
import dev.hongbao.http.Reply;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * {@code GET /v1/groups/{group}/events}: a group's feed for polling clients. A waiting poll holds only an entry in the feed and a
 * timer; while it reads from Postgres, it counts as a call of its caller. Confined to its event loop.
 */
final class EventsRoute {
    private final FeedService feed;
    private final WaitingPolls waiting;
    private final CallsInFlight inFlight;

    public EventsRoute(FeedService feed, WaitingPolls waiting, CallsInFlight inFlight) {
        this.feed = feed;
        this.waiting = waiting;
        this.inFlight = inFlight;
    }

    public Future<Reply> answer(Call call) {
        Caller caller = call.caller();
        GroupId group = call.group();
        Long after = null;
        if (call.query().get("after") instanceof String cursor) {
            after = FeedService.place(cursor);
            if (after == null) {
                throw InvalidInputException.of("query/after", Text.of("cursor.unknown"));
            }
        }
        int waitSeconds = Preferences.of(call.exchange().request()).waitSeconds();
        if (waitSeconds == 0 || after == null) {
            Long place = after;
            return inFlight.run(
                            caller,
                            () -> feed.poll(caller, group, place, Duration.ZERO).page())
                    .map(page -> reply(page, waitSeconds));
        }
        long place = after;
        return waiting.answer(call, waitSeconds, () -> {
                    FeedService.Poll poll =
                            feed.poll(caller, group, place, Duration.ofSeconds(waitSeconds), reads(caller));
                    return new WaitingPolls.Poll<>(poll.page(), poll::stopWaiting, poll::cancel);
                })
                .map(page -> reply(page, waitSeconds));
    }

    /** Each read of a poll counts as a call of the caller while it runs. */
    private FeedService.Reads reads(Caller caller) {
        return new FeedService.Reads() {
            @Override
            public <T> Future<T> make(Supplier<Future<T>> read) {
                return inFlight.run(caller, read);
            }
        };
    }

    private static Reply reply(FeedPage page, int waitSeconds) {
        return waitSeconds == 0
                ? Reply.json(200, body(page))
                : Reply.json(200, body(page), "Preference-Applied", "wait=" + waitSeconds);
    }

    private static String body(FeedPage page) {
        return new JsonText(512 * (page.items().size() + page.packets().size() + 1))
                .beginObject()
                .items("items", page.items(), (json, event) -> json.raw(event.json()))
                .plain("next", Long.toString(page.next()))
                .object(
                        "reset",
                        page.reset(),
                        (json, reset) -> json.plain("reason", reset.wireName())
                                .items(
                                        "packets",
                                        page.packets(),
                                        (out, packet) -> out.raw(PacketBodies.packet(packet, page.people()))))
                .endObject()
                .toString();
    }
}
