package dev.hongbao.feed;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PreparedQuery;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowIterator;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A Postgres that a test answers for. */
final class StubPool {
    private StubPool() {}

    /** Answers a statement with rows, each by the names of its columns. */
    interface Answers {
        Future<List<Map<String, Object>>> to(String sql, Tuple parameters);
    }

    static Pool of(Answers answers) {
        return proxy(
                Pool.class,
                (pool, prepare, sql) -> proxy(
                        PreparedQuery.class,
                        (query, execute, of) -> answers.to((String) sql[0], of == null ? Tuple.tuple() : (Tuple) of[0])
                                .map(StubPool::rows)));
    }

    @SuppressWarnings("unchecked")
    private static RowSet<Row> rows(List<Map<String, Object>> found) {
        List<Row> rows = found.stream()
                .map(each -> proxy(Row.class, (row, get, name) -> each.get((String) name[0])))
                .toList();
        return proxy(RowSet.class, (set, method, of) -> switch (method.getName()) {
            case "size" -> rows.size();
            case "iterator" -> iterator(rows.iterator());
            case "forEach" -> {
                rows.forEach((Consumer<Row>) of[0]);
                yield null;
            }
            default -> throw new UnsupportedOperationException(method.getName());
        });
    }

    private static RowIterator<?> iterator(Iterator<Row> rows) {
        return proxy(
                RowIterator.class,
                (it, method, none) -> method.getName().equals("next") ? rows.next() : rows.hasNext());
    }

    private static <T> T proxy(Class<T> type, InvocationHandler answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers));
    }
}
