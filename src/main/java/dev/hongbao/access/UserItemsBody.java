package dev.hongbao.access;

import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.http.Problem.FaultLog;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Schema;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.slf4j.LoggerFactory;

/**
 * The items of a call that the host's backend makes for many of its users. Each item is a call of its user, with the reply of that call:
 * items succeed and fail by themselves. A long list is begun in parts, with the loop's other work in between. Confined to its event loop.
 */
public final class UserItemsBody {
    private static final FaultLog FAULTS = new FaultLog(LoggerFactory.getLogger(UserItemsBody.class), System::nanoTime);

    private static final int OUTCOME_LENGTH = 288;

    /** Items of a part. A cold server begins them in 70 ms of CPU, and all 1,000 in 250; a script call for 64 is as cheap as a longer one. */
    private static final int PART = 64;

    private final Schema schema;
    private final String list;
    private final String result;
    private final Executor later;

    @FunctionalInterface
    public interface UserCall {
        /**
         * As {@link dev.hongbao.http.HttpFace.Route#answer}.
         *
         * @param item fits the schema
         * @param begun succeeds when every item of the list is begun
         */
        Future<Reply> answer(Caller user, JsonObject item, Future<Void> begun);
    }

    /**
     * @param schema of an item
     * @param list the name of the list in the body, for pointers
     * @param result the name of a successful item's result
     * @param later runs the next part on the event loop, once the loop has looked at its connections
     */
    public UserItemsBody(Schema schema, String list, String result, Executor later) {
        this.schema = schema;
        this.list = list;
        this.result = result;
        this.later = later;
    }

    /**
     * The user for whom the backend acts, with the groups and traits of the body.
     *
     * @param body fits its schema
     */
    public static Caller user(Caller backend, UserId user, JsonObject body) {
        Set<GroupId> groups = new HashSet<>();
        for (Object group : body.getJsonArray("groups", new JsonArray())) {
            groups.add(new GroupId((String) group));
        }
        Map<String, String> traits = new HashMap<>();
        for (Map.Entry<String, Object> trait : body.getJsonObject("traits", new JsonObject())) {
            traits.put(trait.getKey(), (String) trait.getValue());
        }
        return backend.actingFor(user, groups, traits);
    }

    /**
     * Makes the calls in the order of the items. The calls of a part are begun before any is answered, so that they share calls of the
     * stores.
     *
     * @param items of any kind: one that does not fit the schema is answered so
     * @return the contract's list of outcomes, in the order of the items; never fails
     */
    public Future<String> outcomes(Caller backend, JsonArray items, Language language, UserCall call) {
        Parts parts = new Parts(backend, items, language, call);
        parts.begin();
        return parts.begun
                .future()
                .compose(begun -> Future.join(parts.outcomes))
                .map(ended -> parts.json());
    }

    /** One list, which is begun in parts. */
    private final class Parts {
        private final Caller backend;
        private final JsonArray items;
        private final Language language;
        private final UserCall call;
        private final List<Future<String>> outcomes;
        private final Promise<Void> begun = Promise.promise();

        Parts(Caller backend, JsonArray items, Language language, UserCall call) {
            this.backend = backend;
            this.items = items;
            this.language = language;
            this.call = call;
            this.outcomes = new ArrayList<>(items.size());
        }

        void begin() {
            int end = Math.min(outcomes.size() + PART, items.size());
            while (outcomes.size() < end) {
                outcomes.add(reply(outcomes.size())
                        .otherwise(UserItemsBody::refusal)
                        .map(reply -> outcome(reply, language)));
            }
            if (end < items.size()) {
                later.execute(this::begin);
            } else {
                begun.complete();
            }
        }

        private Future<Reply> reply(int place) {
            try {
                Object item = items.getValue(place);
                schema.check(item, "#/" + list + "/" + place);
                JsonObject fields = (JsonObject) item;
                return call.answer(user(backend, new UserId(fields.getString("user")), fields), fields, begun.future());
            } catch (RuntimeException refused) {
                return Future.failedFuture(refused);
            }
        }

        String json() {
            StringBuilder json = new StringBuilder(OUTCOME_LENGTH * outcomes.size()).append("{\"items\":[");
            for (int i = 0; i < outcomes.size(); i++) {
                json.append(i == 0 ? "" : ",").append(outcomes.get(i).result());
            }
            return json.append("]}").toString();
        }
    }

    private static Reply refusal(Throwable failure) {
        Problem problem = Problem.ofFailure(failure);
        if (problem == null) {
            FAULTS.failed("an item failed", failure);
            problem = Problem.of(ProblemType.INTERNAL_ERROR);
        }
        return Reply.problem(problem);
    }

    private String outcome(Reply reply, Language language) {
        Problem problem = reply.problem();
        return "{\"status\":" + reply.status() + ",\"" + (problem == null ? result : "problem") + "\":"
                + (problem == null
                        ? reply.body().toString()
                        : Problem.Told.of(problem, language).withRetry())
                + "}";
    }
}
