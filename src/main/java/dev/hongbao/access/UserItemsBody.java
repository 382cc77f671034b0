package dev.hongbao.access;

import dev.hongbao.http.FaultLog;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Schema;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.LoggerFactory;

/**
 * The items of a call that the host's backend makes for many of its users. Each item is a call of its user, with the reply of that call:
 * items succeed and fail by themselves. Confined to its event loop.
 */
public final class UserItemsBody {
    private static final FaultLog FAULTS = new FaultLog(LoggerFactory.getLogger(UserItemsBody.class), System::nanoTime);

    private static final int OUTCOME_LENGTH = 288;

    private final Schema schema;
    private final String list;
    private final String result;

    /** One call for a user. */
    @FunctionalInterface
    public interface UserCall {
        /**
         * As {@link dev.hongbao.http.Route#answer}.
         *
         * @param item fits the schema
         */
        Future<Reply> answer(Caller user, JsonObject item);
    }

    /**
     * @param schema of an item
     * @param list the name of the list in the body, for pointers
     * @param result the name of a successful item's result
     */
    public UserItemsBody(Schema schema, String list, String result) {
        this.schema = schema;
        this.list = list;
        this.result = result;
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
     * Makes the calls in the order of the items, all of them before it returns, so that they share calls of the stores.
     *
     * @param items of any kind: one that does not fit the schema is answered so
     * @return the contract's list of outcomes, in the order of the items; never fails
     */
    public Future<String> outcomes(Caller backend, JsonArray items, Language language, UserCall call) {
        List<Future<Reply>> replies = new ArrayList<>(items.size());
        for (int i = 0; i < items.size(); i++) {
            replies.add(reply(backend, items.getValue(i), "#/" + list + "/" + i, call)
                    .otherwise(UserItemsBody::refusal));
        }
        return Future.join(replies).map(all -> json(replies, language));
    }

    private Future<Reply> reply(Caller backend, Object item, String place, UserCall call) {
        try {
            schema.check(item, place);
            JsonObject fields = (JsonObject) item;
            return call.answer(user(backend, new UserId(fields.getString("user")), fields), fields);
        } catch (RuntimeException refused) {
            return Future.failedFuture(refused);
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

    private String json(List<Future<Reply>> replies, Language language) {
        StringBuilder json = new StringBuilder(OUTCOME_LENGTH * replies.size()).append("{\"items\":[");
        for (int i = 0; i < replies.size(); i++) {
            Reply reply = replies.get(i).result();
            Problem problem = reply.problem();
            json.append(i == 0 ? "{\"status\":" : ",{\"status\":")
                    .append(reply.status())
                    .append(",\"")
                    .append(problem == null ? result : "problem")
                    .append("\":")
                    .append(
                            problem == null
                                    ? reply.body().toString()
                                    : Problem.Told.of(problem, language).withRetry())
                    .append('}');
        }
        return json.append("]}").toString();
    }
}
