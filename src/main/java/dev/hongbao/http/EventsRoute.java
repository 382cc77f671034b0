package dev.hongbao.http;

import dev.hongbao.command.Caller;
import dev.hongbao.command.GroupId;
import dev.hongbao.feed.FeedEvent;
import dev.hongbao.feed.FeedPage;
import dev.hongbao.feed.FeedService;
import dev.hongbao.wire.Bodies;
import dev.hongbao.wire.InvalidInputException;
import dev.hongbao.wire.JsonText;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * {@code GET /v1/groups/{group}/events}: a group's feed for polling clients. A poll that waits holds an entry in the feed and
 * a timer, nothing else. Only on its loop.
 */
final class EventsRoute {
    private static final String WAIT = "wait=";

    private final FeedService feed;
    private final AtomicInteger polls;
    private final long answerMillis;
    private final Set<FeedService.Poll> waiting = new HashSet<>();

    /**
     * @param polls those that wait, of all loops
     * @param answerMillis beyond the time a client asked to wait
     */
    EventsRoute(FeedService feed, AtomicInteger polls, long answerMillis) {
        this.feed = feed;
        this.polls = polls;
        this.answerMillis = answerMillis;
    }

    /** Answers the polls that wait, as if their time were over. */
    void stopWaiting() {
        List.copyOf(waiting).forEach(FeedService.Poll::stopWaiting);
    }

    void answer(Exchange exchange, Caller caller, Map<String, String> path, Map<String, Object> query) {
        GroupId group = new GroupId(Objects.requireNonNull(path.get("group")));
        Long after = null;
        if (query.get("after") instanceof String cursor) {
            after = FeedService.place(cursor);
            if (after == null) {
                throw InvalidInputException.of("query/after", "is not a cursor of this server");
            }
        }
        int waitSeconds = waitSeconds(exchange.request().headers().getAll("prefer"));
        FeedService.Poll poll = feed.poll(caller, group, after, Duration.ofSeconds(waitSeconds));
        if (poll.page().isComplete()) {
            answer(exchange, poll, waitSeconds);
            return;
        }
        waiting.add(poll);
        polls.incrementAndGet();
        exchange.request().response().closeHandler(gone -> {
            ended(poll);
            poll.cancel();
        });
        answer(exchange, poll, waitSeconds);
    }

    private void answer(Exchange exchange, FeedService.Poll poll, int waitSeconds) {
        long limit = answerMillis + waitSeconds * 1_000L;
        poll.page().timeout(limit, TimeUnit.MILLISECONDS).onComplete(done -> {
            ended(poll);
            if (done.failed()) {
                poll.cancel();
                exchange.fail(done.cause());
            } else if (waitSeconds > 0) {
                exchange.send(Reply.json(200, body(done.result()), "Preference-Applied", WAIT + waitSeconds));
            } else {
                exchange.send(Reply.json(200, body(done.result())));
            }
        });
    }

    private void ended(FeedService.Poll poll) {
        if (waiting.remove(poll)) {
            polls.decrementAndGet();
        }
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
            page.packets().forEach(packet -> json.raw(Bodies.packet(packet)));
            json.endArray().endObject();
        }
        return json.endObject().toString();
    }
}
