package dev.hongbao.tools.bench.article;

import dev.hongbao.tools.bench.article.Strategy.Grant;
import java.net.URI;
import java.util.List;
import java.util.function.BiFunction;
import redis.clients.jedis.Jedis;

/** Where articles 2, 4 and 5 write down who won what: a list in Redis. @param key of the list */
record WinnersList(String key) {
    void add(Jedis jedis, int user, Object what) {
        jedis.rpush(key, user + " " + what);
    }

    /** All of it. @param grant of a user and what was written down */
    List<Grant> read(URI redis, BiFunction<Integer, String, Grant> grant) {
        try (Jedis jedis = new Jedis(redis)) {
            return jedis.lrange(key, 0, -1).stream()
                    .map(winner -> {
                        int space = winner.indexOf(' ');
                        return grant.apply(Integer.parseInt(winner.substring(0, space)), winner.substring(space + 1));
                    })
                    .toList();
        }
    }
}
