package dev.hongbao.page;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.function.Consumer;
import org.openqa.selenium.WebElement;

/** A person at the page: what is done and seen there, in its words. */
record Visitor(Browser browser) {
    /** Comes to the door as nobody, with the page in English. */
    void knock(URI base) {
        browser.openAfresh(base.toString(), "");
        browser.see("[data-member]");
    }

    /** Becomes a member of the demo group at the door. */
    void enter(URI base, String member) {
        knock(base);
        browser.click("[data-member=" + member + "]");
        browser.see("[data-line=open]");
    }

    /** Keeps the page's frame of a type from leaving until the page's {@code window.release()}, which is there with the frame. */
    void holdBack(String type) {
        browser.js("""
                const [held] = arguments;
                const { send } = WebSocket.prototype;
                WebSocket.prototype.send = function (text) {
                  if (JSON.parse(text).type === held) window.release = () => send.call(this, text);
                  else send.call(this, text);
                };
                """, type);
    }

    /** Opens the page as somebody who is in already. @param session as the page keeps it */
    void come(URI base, JsonObject session) {
        browser.openAfresh(
                base.toString(), "sessionStorage.setItem('hongbao.session', " + Json.encode(session.encode()) + ")");
        browser.see("[data-line=open]");
    }

    /** Fills the form, and sends. */
    void send(String amount, int count, String greeting, Consumer<Browser> more) {
        browser.click(".send");
        browser.type("input[name=amount]", amount);
        browser.type("input[name=count]", Integer.toString(count));
        browser.type("input[name=greeting]", greeting);
        more.accept(browser);
        browser.click(".submit");
        browser.seeNo("dialog");
    }

    /** Presses 抢 on a packet. */
    void grab(String packet) {
        browser.click(row(packet) + " .coin");
    }

    /** Opens a packet without grabbing. */
    void look(String packet) {
        browser.click(row(packet) + " .face-of-packet");
    }

    void close(String packet) {
        browser.click("dialog .close");
        browser.seeNo("dialog");
        browser.see(row(packet));
    }

    /** The share that the open dialog shows, in fen. */
    long amountWon() {
        WebElement amount = browser.see("[data-outcome=won] .amount");
        return Long.parseLong(amount.getDomAttribute("data-amount"));
    }

    /** Waits until the packet is in this state, as {@code packet.js} names them. */
    void seeState(String packet, String state) {
        browser.see(row(packet) + "[data-state=" + state + "]");
    }

    /** The id of the newest packet, once its greeting is seen. */
    String seePacket(String greeting) {
        browser.see("article[aria-label$='" + greeting + "']");
        return (String) browser.js("return document.querySelector(\"article[aria-label$='" + greeting
                + "']\").closest('[data-packet]').dataset.packet");
    }

    void seeBalance(long fen) {
        browser.see(".side-account [data-balance='" + fen + "']");
    }

    static String row(String packet) {
        return "[data-packet='" + packet + "']";
    }
}
