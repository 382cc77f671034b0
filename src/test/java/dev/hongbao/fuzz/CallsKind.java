package dev.hongbao.fuzz;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Requests, some after the other on one connection: those of the API, or those of the operator's port. */
final class CallsKind implements Kind {
    /** More waits in no buffer of a connection. */
    private static final int PIPELINED_BYTES = 48 * 1024;

    private static final Map<String, String> MADE = Map.of(
            "createDraw", "draw",
            "createCampaign", "campaign",
            "createRain", "rain",
            "createWebhook", "webhook",
            "sendPacket", "packet",
            "sendPacketForUser", "packet",
            "openPool", "packet",
            "deposit", "transfer");

    private final Terms terms;
    private final Function<Input, Asked> source;
    private final Function<Answer, @Nullable String> oracle;
    private final World world;

    /** @param share of a hundred inputs @param batch how many go out at once, at most */
    private record Terms(String name, int share, int batch, int port) {}

    /** @param call its id; empty for a page */
    record Asked(String call, Request request) {}

    private CallsKind(
            Terms terms, Function<Input, Asked> source, Function<Answer, @Nullable String> oracle, World world) {
        this.terms = terms;
        this.source = source;
        this.oracle = oracle;
        this.world = world;
    }

    /** Every call of the contract with right, nearly right and wrong values. */
    static CallsKind ofApi(ContractText contract, World world, Hostile hostile) {
        CallRequests requests = new CallRequests(contract, world, hostile, "h");
        return new CallsKind(
                new Terms("calls", 32, 32, world.port()),
                input -> {
                    ContractText.Call call = input.pick(contract.calls());
                    return new Asked(call.id(), requests.of(input, call));
                },
                Oracle::fault,
                world);
    }

    /** The console's calls and those of the API, its pages, health and numbers. */
    static CallsKind ofConsole(int port, World world, Hostile hostile) throws IOException {
        return new CallsKind(
                new Terms("console", 12, 4, port),
                new ConsoleRequests(world, hostile)::of,
                Oracle::operatorFault,
                world);
    }

    @Override
    public String name() {
        return terms.name;
    }

    @Override
    public int share() {
        return terms.share;
    }

    @Override
    public int batch() {
        return terms.batch;
    }

    /** An input as it goes out. */
    private record Sent(Input input, Asked asked, byte[] bytes) {}

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        List<Sent> waiting = new ArrayList<>();
        for (Input input : inputs) {
            Asked asked = source.apply(input);
            waiting.add(new Sent(input, asked, asked.request.bytes()));
        }
        while (!waiting.isEmpty()) {
            waiting = waiting.subList(onOneConnection(waiting, findings), waiting.size());
        }
    }

    /** @return how many were answered, or lost their connection */
    private int onOneConnection(List<Sent> waiting, Findings findings) throws IOException {
        int done = 0;
        try (Line line = new Line(terms.port)) {
            List<Sent> together = together(waiting);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            together.forEach(sent -> all.writeBytes(sent.bytes));
            line.send(all.toByteArray());
            for (Sent sent : together) {
                done++;
                Answer answer = line.read(sent.asked.request.isHead());
                if (answer == null) {
                    findings.count(sent.input, "closed");
                    return done;
                }
                judge(sent, answer, findings);
                if (answer.isLast()) {
                    return done;
                }
            }
            return done;
        } catch (SocketTimeoutException hangs) {
            return lost(waiting.get(done - 1), "no answer within " + Line.LIMIT_MILLIS + " ms", done, findings);
        } catch (EOFException half) {
            return lost(waiting.get(done - 1), half.getMessage(), done, findings);
        }
    }

    private static int lost(Sent sent, String what, int done, Findings findings) {
        findings.found(sent.input, what, sent.asked.request.toString());
        return done;
    }

    private static List<Sent> together(List<Sent> waiting) {
        int bytes = 0;
        for (int i = 0; i < waiting.size(); i++) {
            bytes += waiting.get(i).bytes.length;
            if (i > 0 && bytes > PIPELINED_BYTES) {
                return waiting.subList(0, i);
            }
        }
        return waiting;
    }

    private void judge(Sent sent, Answer answer, Findings findings) {
        findings.count(sent.input, Integer.toString(answer.status()));
        String fault = sent.asked.request.isHead() ? null : oracle.apply(answer);
        if (fault != null) {
            findings.found(sent.input, fault, sent.asked.request.toString());
        }
        String made = MADE.get(sent.asked.call);
        if (made != null && answer.status() == 201) {
            try {
                world.learn(made, new JsonObject(answer.body()));
            } catch (DecodeException none) {
                findings.found(sent.input, "201 without JSON: " + answer.body(), sent.asked.request.toString());
            }
        }
    }
}
