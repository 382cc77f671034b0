package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The proof of fairness in a browser: the client's function holds the golden vectors, and the page's button says yes and no. */
class FairnessIT extends PageUse {
    /** Runs the function over the vectors, each as a packet whose shares are all claimed, and on forgeries of it. */
    private static final String HOLD = """
            const vectors = JSON.parse(arguments[0]);
            const digest = async (text) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))]
              .map((byte) => byte.toString(16).padStart(2, '0')).join('');
            const told = (vector, shares) => {
              const packet = { ...vector, status: 'drained', claimed: { count: vector.count, amount: vector.amount },
                luckiest: { slot: shares.indexOf(shares.reduce((a, b) => Math.max(a, b))) } };
              const claims = shares.map((amount, slot) => ({ packet: vector.id, user: `u${slot}`, slot, amount, asset: vector.asset }));
              return [packet, claims];
            };
            const hold = async ({ verifyPacket }, { commitmentOf, sharesOf }) => {
              const broken = [];
              for (const vector of vectors) {
                const name = `${vector.split} ${vector.count} ${vector.amount}`;
                const shares = await sharesOf({ ...vector, claimed: { count: 0, amount: 0 } });
                const right = vector.shares ? String(shares) === String(vector.shares) : await digest(shares.join()) === vector.sharesDigest;
                if (!right) broken.push(`${name}: shares`);
                const [packet, claims] = told(vector, shares);
                if (await commitmentOf(packet) !== vector.commitment) broken.push(`${name}: commitment`);
                if (!(await verifyPacket(packet, claims, vector)).fair) broken.push(`${name}: not fair`);
                if (vector.count > 100) continue; // of those a forgery takes a second, and is seen as in the others
                const forgeries = {
                  seed: [{ ...packet, seed: packet.seed.slice(2) + '00' }, claims],
                  id: [{ ...packet, id: vectors.at(-1).id.replace('8000', '9000') },
                    claims.map((claim) => ({ ...claim, packet: vectors.at(-1).id.replace('8000', '9000') }))],
                  amount: [packet, claims.map((claim, i) => (i === 0 ? { ...claim, amount: claim.amount + 1 } : claim))],
                  missing: [packet, claims.slice(1)],
                  twice: [packet, [...claims, claims[0]]],
                  luckiest: [{ ...packet, luckiest: null }, claims],
                  more: [{ ...packet, status: 'refunded', luckiest: null,
                    claimed: { count: vector.count + 1, amount: vector.amount + 1 } },
                    [...claims, { ...claims[0], user: 'mallory', slot: vector.count, amount: 1 }]],
                  told: [packet, claims, { commitment: '0'.repeat(64) }],
                  nobody: [{ ...packet, status: 'refunded', luckiest: { slot: -1 },
                    claimed: { count: vector.count - 1, amount: vector.amount - shares.at(-1) } }, claims.slice(0, -1)],
                };
                for (const [forgery, given] of Object.entries(forgeries)) {
                  if ((await verifyPacket(...given)).fair) broken.push(`${name}: forged ${forgery}`);
                }
                const refused = { open: { seed: null }, split: { split: 'toString' }, version: { splitVersion: 2 }, count: { count: 1.5 },
                  max: { max: vector.amount + 1 }, none: { amount: undefined }, seed: { seed: 'g'.repeat(64) } };
                for (const [fault, change] of Object.entries(refused)) {
                  const kept = await verifyPacket({ ...packet, ...change }, claims).then(() => 'told', (error) => error.name);
                  if (kept !== 'TypeError') broken.push(`${name}: ${fault} is ${kept}`);
                }
              }
              window.held = broken.length === 0 ? `all ${vectors.length}` : broken.join('; ');
            };
            Promise.all([import('/hongbao-client.js'), import('/hongbao-verify.js')]).then((modules) => hold(...modules))
              .catch((error) => { window.held = String(error.stack); });
            """;

    /** As {@link #HOLD}, for rains. */
    private static final String HOLD_RAINS = """
            const vectors = JSON.parse(arguments[0]);
            const digest = async (text) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))]
              .map((byte) => byte.toString(16).padStart(2, '0')).join('');
            const iso = (millis) => new Date(millis).toISOString().replace('.000Z', 'Z');
            const told = (vector, moments) => {
              const { budget, drops } = vector;
              const fallen = moments.slice(0, vector.fallen).map((moment, n) => ({ packet: `00000000-0000-0007-0000-${String(n).padStart(12, '0')}`,
                at: iso(moment), amount: Math.floor(budget / drops) + (n < budget % drops ? 1 : 0), over: true }));
              return { ...vector, fallen, caught: { amount: fallen.length }, returned: budget - fallen.length };
            };
            const hold = async ({ verifyRain }) => {
              const broken = [];
              for (const vector of vectors) {
                const { moments } = await verifyRain(told(vector, []));
                const right = vector.moments ? String(moments) === String(vector.moments) : await digest(moments.join()) === vector.momentsDigest;
                if (!right) broken.push(`${vector.id}: moments`);
                const rain = told(vector, moments);
                const { fair, faults } = await verifyRain(rain, vector);
                if (!fair) broken.push(`${vector.id}: ${faults[0]}`);
                const { fallen } = rain;
                const forgeries = {
                  seed: [{ ...rain, seed: '0'.repeat(64) }],
                  id: [{ ...rain, id: '00000000-0000-0001-0000-000000000001' }],
                  drops: [{ ...rain, drops: vector.drops + 1, budget: vector.budget + vector.drops }],
                  returned: [{ ...rain, returned: rain.returned + 1 }],
                  caught: [{ ...rain, caught: { amount: rain.caught.amount + 1 } }],
                  told: [rain, { commitment: '0'.repeat(64) }],
                  more: [{ ...rain, fallen: [...fallen, { packet: vector.id, at: rain.lastAt, amount: 1, over: true }] }],
                };
                if (fallen.length > 0) {
                  const last = fallen.at(-1);
                  const rest = fallen.slice(0, -1);
                  Object.assign(forgeries, {
                    moved: [{ ...rain, fallen: [...rest, { ...last, at: iso(Date.parse(last.at) + 1) }] }],
                    missing: [{ ...rain, fallen: rest }],
                    twice: [{ ...rain, fallen: [...rest, fallen[0], fallen[0]] }],
                    larger: [{ ...rain, fallen: [...rest, { ...last, amount: last.amount + 1 }] }],
                    open: [{ ...rain, fallen: [...rest, { ...last, over: false }] }],
                    closed: [{ ...rain, fallen: [...rest, { ...last, over: 'no' }] }],
                    budget: [{ ...rain, budget: rain.budget + rain.drops, returned: rain.returned + rain.drops }],
                  });
                }
                for (const [forgery, given] of Object.entries(forgeries)) {
                  if ((await verifyRain(...given)).fair) broken.push(`${vector.id}: forged ${forgery}`);
                }
                const refused = { open: { seed: null }, drops: { drops: 0 }, most: { drops: 1e9 }, times: { lastAt: rain.startsAt }, none: { startsAt: undefined },
                  fallen: { fallen: null }, budget: { budget: 1.5 }, caught: { caught: undefined }, cancelled: { cancelledAt: 'never' },
                  hour: { cancelledAt: '2026-02-17T99:00:00Z', fallen: [], caught: { amount: 0 }, returned: rain.budget } };
                for (const [fault, change] of Object.entries(refused)) {
                  const kept = await verifyRain({ ...rain, ...change }).then(() => 'told', (error) => error.name);
                  if (kept !== 'TypeError') broken.push(`${vector.id}: ${fault} is ${kept}`);
                }
              }
              window.held = broken.length === 0 ? `all ${vectors.length}` : broken.join('; ');
            };
            import('/hongbao-client.js').then(hold).catch((error) => { window.held = String(error.stack); });
            """;

    /** From now on a claim's amount arrives with one fen more. */
    private static final String LIE = """
            const honest = window.fetch;
            window.fetch = async (path, options) => {
              const answer = await honest(path, options);
              if (!path.includes('/claims')) return answer;
              const page = await answer.json();
              page.items[0].amount += 1;
              return new Response(JSON.stringify(page));
            };
            """;

    @ParameterizedTest
    @ValueSource(strings = {"packets.json", "rains.json"})
    void theClientHoldsTheGoldenVectorsAndSeesForgeries(String file) throws Exception {
        // Given
        String vectors = Files.readString(Path.of("src/main/resources/webroot/fairness", file));
        enter(mei, "demo-mei");

        // When
        mei.browser().js(file.startsWith("rain") ? HOLD_RAINS : HOLD, vectors);

        // Then
        mei.browser().seeTrue("return window.held !== undefined");
        assertThat(mei.browser().js("return window.held")).isEqualTo("all " + new JsonArray(vectors).size());
    }

    @Test
    void thePageSaysYesAndNoWhenAnAmountIsAnother() throws Exception {
        // Given a packet that is drained before this browser's eyes
        enter(mei, "demo-mei");
        Browser page = mei.browser();
        String packet = family.send("demo-jun", "prove it", new JsonObject().put("count", 3));
        mei.seeState(packet, "open");
        for (String member : List.of("demo-anna", "demo-fang", "demo-lei")) {
            family.claim(member, packet);
        }
        mei.seeState(packet, "drained");

        // When, Then
        mei.look(packet);
        page.seeText(".fairness button", "Check the shares");
        page.click(".fairness button");
        page.seeText(".fairness[data-fair=yes] [role=status]", "Yes, they are fair");
        page.js("document.querySelector('.fairness').scrollIntoView()");
        page.screenshot("fair");
        mei.close(packet);

        // When the server tells another amount than it gave
        page.js(LIE);
        mei.look(packet);
        page.click(".fairness button");

        // Then
        page.seeText(".fairness[data-fair=no] [role=status]", "No, something does not match");
        page.screenshot("unfair");
        mei.close(packet);
    }
}
