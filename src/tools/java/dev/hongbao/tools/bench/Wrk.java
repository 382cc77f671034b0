package dev.hongbao.tools.bench;

import dev.hongbao.common.values.GroupId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The closed-loop load: {@code wrk} from the system, because a generator in Java would take the server's cores. A Lua script
 * gives each request a user's token and a packet's path, so that no user claims a packet twice.
 */
final class Wrk {
    private static final Pattern DONE = Pattern.compile("HONGBAO (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+)");

    private final Path directory;

    Wrk(Path directory) {
        this.directory = directory;
    }

    /**
     * What a run saw.
     *
     * @param requests answered
     * @param micros of the run
     * @param refused answers that are no claim: a status other than 200, 201 and 202
     * @param failed connections or requests without an answer
     */
    record Outcome(long requests, long micros, long refused, long failed, long p50Micros, long p99Micros) {
        double perSecond() {
            return requests * 1e6 / micros;
        }
    }

    /** Whether the program is there. */
    static boolean isInstalled() {
        try {
            Process process =
                    new ProcessBuilder("wrk", "-v").redirectErrorStream(true).start();
            process.getInputStream().readAllBytes();
            process.waitFor();
            return true;
        } catch (IOException missing) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * One thread, that many connections, for some seconds.
     *
     * @param script see {@link #claims}
     */
    Outcome run(int port, Path script, int connections, int seconds) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(
                        "wrk",
                        "-t1",
                        "-c" + connections,
                        "-d" + seconds + "s",
                        "--timeout",
                        "10s",
                        "-s",
                        script.toString(),
                        "http://127.0.0.1:" + port))
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        Matcher done = DONE.matcher(said);
        if (!done.find()) {
            throw new IllegalStateException("wrk said: " + said);
        }
        return new Outcome(
                Long.parseLong(done.group(1)),
                Long.parseLong(done.group(2)),
                Long.parseLong(done.group(3)),
                Long.parseLong(done.group(4)),
                Long.parseLong(done.group(5)),
                Long.parseLong(done.group(6)));
    }

    /**
     * A script of claims: request n is by user n mod users on packet n / users, or the other way round when there are more
     * packets than users would drain.
     *
     * @param tokens a file with a token a line
     * @param packets a file with a packet's id a line
     * @param async whether to be answered once accepted
     */
    Path claims(Path tokens, Path packets, boolean async) throws IOException {
        return script("claims", """
                local tokens, packets = lines("%s"), lines("%s")
                local n, made = 0, {}
                for i, token in ipairs(tokens) do
                  made[i] = "\\r\\nHost: hongbao\\r\\nAuthorization: Bearer " .. token .. "%s\\r\\nContent-Length: 0\\r\\n\\r\\n"
                end
                request = function()
                  local user = n %% #tokens
                  local packet = #packets > 100 and (n + 7 * math.floor(n / #tokens)) %% #packets
                                                 or math.floor(n / #tokens) %% #packets
                  n = n + 1
                  return "POST /v1/packets/" .. packets[packet + 1] .. "/claims HTTP/1.1" .. made[user + 1]
                end
                """.formatted(tokens, packets, async ? "\\r\\nPrefer: respond-async" : ""));
    }

    /**
     * A script of sends: packets of 5 shares, each request by the next user.
     *
     * @param tokens a file with a token a line
     * @param groups that the users send into, in turn
     * @param claimed whether each packet is claimed by five users, as soon as it is sent
     */
    Path sends(Path tokens, List<GroupId> groups, boolean claimed) throws IOException {
        String bodies = groups.stream()
                .map(group -> "'{\"group\":\"" + group.value()
                        + "\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":500,\"count\":5}'")
                .collect(Collectors.joining(", "));
        return script("sends", """
                local tokens, bodies = lines("%s"), {%s}
                local n, head, claims = 0, 1, {}
                for i, token in ipairs(tokens) do
                  tokens[i] = "\\r\\nHost: hongbao\\r\\nAuthorization: Bearer " .. token .. "\\r\\nContent-Length: "
                end
                for i, body in ipairs(bodies) do
                  bodies[i] = #body .. "\\r\\nContent-Type: application/json\\r\\n\\r\\n" .. body
                end
                request = function()
                  local claim = claims[head]
                  if claim then
                    claims[head] = nil
                    head = head + 1
                    return claim
                  end
                  n = n + 1
                  return "POST /v1/packets HTTP/1.1\\r\\nIdempotency-Key: %s-" .. n
                         .. tokens[n %% #tokens + 1] .. bodies[n %% #bodies + 1]
                end
                if %s then
                  local last = 0
                  response = function(status, headers, body)
                    local packet = body:match('^{"id":"([^"]+)"')
                    for i = 1, packet and 5 or 0 do
                      last = last + 1
                      claims[last] = "POST /v1/packets/" .. packet .. "/claims HTTP/1.1"
                                     .. tokens[last %% #tokens + 1] .. "0\\r\\n\\r\\n"
                    end
                  end
                end
                """.formatted(tokens, bodies, UUID.randomUUID(), claimed));
    }

    /** A script of deposits, each into the next user's wallet. @param token of the host application's backend */
    Path deposits(String token, int users) throws IOException {
        return script("deposits", """
                local n, body = 0, '{"asset":"CNY","amount":100}'
                local rest = " HTTP/1.1\\r\\nHost: hongbao\\r\\nAuthorization: Bearer %s\\r\\nContent-Type: application/json"
                             .. "\\r\\nContent-Length: " .. #body .. "\\r\\nIdempotency-Key: %s-"
                request = function()
                  n = n + 1
                  return "POST /v1/accounts/" .. string.format("member-%%09d", n %% %d) .. "/deposits"
                         .. rest .. n .. "\\r\\n\\r\\n" .. body
                end
                """.formatted(token, UUID.randomUUID(), users));
    }

    /**
     * A script that always asks for the same. The requests are as long as those of {@link #claims}, so that they cost the load
     * generator as much.
     *
     * @param tokens a file with a token a line
     */
    Path constant(Path tokens, String path) throws IOException {
        return script("constant", """
                local tokens, n = lines("%s"), 0
                for i, token in ipairs(tokens) do
                  tokens[i] = "\\r\\nHost: hongbao\\r\\nAuthorization: Bearer " .. token .. "\\r\\n\\r\\n"
                end
                request = function()
                  n = n + 1
                  return "GET %s HTTP/1.1" .. tokens[n %% #tokens + 1]
                end
                """.formatted(tokens, path));
    }

    private Path script(String name, String body) throws IOException {
        Files.createDirectories(directory);
        return Files.writeString(directory.resolve(name + ".lua"), """
                local function lines(file)
                  local all = {}
                  for line in io.lines(file) do all[#all + 1] = line end
                  return all
                end
                local threads = {}
                setup = function(thread) threads[#threads + 1] = thread end
                refused = 0
                response = nil
                %s
                done = function(summary, latency)
                  local e = summary.errors
                  io.write(string.format("HONGBAO %%d %%d %%d %%d %%d %%d\\n", summary.requests, summary.duration, e.status,
                                         e.connect + e.read + e.write + e.timeout,
                                         latency:percentile(50), latency:percentile(99)))
                end
                """.formatted(body));
    }
}
