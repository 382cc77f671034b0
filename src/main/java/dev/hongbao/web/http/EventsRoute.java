package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.domain.feed.FeedEvent;
import dev.hongbao.domain.feed.FeedPage;
import dev.hongbao.domain.feed.FeedService;
import dev.hongbao.web.access.CallsInFlight;
import dev.hongbao.web.api.Bodies;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.List;

/**
 * {@code GET /v1/groups/{group}/events}: a group's feed for polling clients. A poll that waits holds an entry in the feed and
 * a timer, nothing else; while it reads what is not at hand, it is one of its caller's calls. Confined to its event loop.
 */
final class EventsRoute {
    private static final String WAIT = "wait=";

    private final FeedService feed;
    private final WaitingPolls waiting;
    private final CallsInFlight inFlight;

    EventsRoute(FeedService feed, WaitingPolls waiting, CallsInFlight inFlight) {
        this.feed = feed;
        this.waiting = waiting;
        this.inFlight = inFlight;
    }

    Future<Reply> answer(Call call) {
        Caller caller = call.caller();
        GroupId group = call.group();
        HttpServerRequest request = call.exchange().request();
        Long after = null;
        if (call.query().get("after") instanceof String cursor) {
            after = FeedService.place(cursor);
            if (after == null) {
                throw InvalidInputException.of("query/after", "is not a cursor of this server");
            }
        }
        int waitSeconds = waitSeconds(request.headers().getAll("prefer"));
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
                            feed.poll(caller, group, place, Duration.ofSeconds(waitSeconds), inFlight.of(caller));
                    return new WaitingPolls.Poll<>(poll.page(), poll::stopWaiting, poll::cancel);
                })
                .map(page -> reply(page, waitSeconds));
    }

    private static Reply reply(FeedPage page, int waitSeconds) {
        return waitSeconds == 0
                ? Reply.json(200, body(page))
                : Reply.json(200, body(page), "Preference-Applied", WAIT + waitSeconds);
    }

    /** RFC 7240: the first {@code wait} counts; what cannot be read is passed over. */
    static int waitSeconds(List<String> lines) {
        for (String line : lines) {
            for (String preference : line.split("[,;]", -1)) {
                String stripped = preference.strip();
                if (stripped.regionMatches(true, 0, WAIT, 0, WAIT.length())) {
                    String seconds = stripped.substring(WAIT.length());
                    return seconds.matches("[0-9]{1,4}")
                            ? Math.min(Integer.parseInt(seconds), (int) FeedService.MAX_WAIT.toSeconds())
                            : 0;
                }
            }
        }
        return 0;
    }

    private static String body(FeedPage page) {
        JsonText json = new JsonText(512 * (page.items().size() + page.packets().size() + 1));
        json.beginObject().name("items").beginArray();
        for (FeedEvent event : page.items()) {
            json.raw(event.json());
        }
        json.endArray().plain("next", Long.toString(page.next())).name("reset");
        if (page.reset() == null) {
            json.raw("null");
        } else {
            json.beginObject()
                    .plain("reason", page.reset().wireName())
                    .name("packets")
                    .beginArray();
            page.packets().forEach(packet -> json.raw(Bodies.packet(packet, page.people())));
            json.endArray().endObject();
        }
        return json.endObject().toString();
    }
}
