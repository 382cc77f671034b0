package dev.hongbao.page;

import java.util.List;

/** What a page looks like, as far as it can be computed. */
final class Looks {
    /** By WCAG 2, for text of normal size. */
    private static final double READABLE = 4.5;

    /** Every visible text within what the page clips at the side; a choice's options are the browser's to draw. */
    private static final String CUT = """
            const cut = [];
            const texts = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
              const node = texts.currentNode;
              if (node.data.trim() === '' || node.parentElement.closest('.unseen, option, [hidden]')) continue;
              const range = document.createRange();
              range.selectNodeContents(node);
              const text = range.getBoundingClientRect();
              for (let box = node.parentElement; box; box = box.parentElement) {
                const edge = box.getBoundingClientRect();
                if (getComputedStyle(box).overflowX !== 'visible' && (text.right > edge.right + 1 || text.left < edge.left - 1)) {
                  cut.push(node.data);
                }
              }
            }
            return cut;
            """;

    /** Paints what is behind an element, from the root on, then its letters, and compares. What has an image behind it is left out. */
    private static final String PALE = """
            const [selector, readable] = arguments;
            const ink = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            const paint = (color, alpha) => {
              ink.globalAlpha = alpha;
              ink.fillStyle = color;
              ink.fillRect(0, 0, 1, 1);
              const channels = [...ink.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255);
              const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
              return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const looked = [];
            for (const element of document.querySelectorAll(selector)) {
              const boxes = [];
              for (let box = element; box; box = box.parentElement) boxes.unshift(getComputedStyle(box));
              const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
              if (!says || element.getClientRects().length === 0 || boxes.some((box) => box.backgroundImage !== 'none')) continue;
              let alpha = 1;
              let behind = paint('#fff', 1);
              for (const box of boxes) {
                alpha *= Number(box.opacity);
                behind = paint(box.backgroundColor, alpha);
              }
              const letters = paint(boxes.at(-1).color, alpha);
              const ratio = (Math.max(letters, behind) + 0.05) / (Math.min(letters, behind) + 0.05);
              looked.push({ text: element.textContent.trim(), ratio });
            }
            if (looked.length === 0) return ['nothing looked at'];
            return looked.filter(({ ratio }) => ratio < readable).map(({ text, ratio }) => `${ratio.toFixed(2)} ${text}`);
            """;

    private Looks() {}

    /** Texts within an element that are cut off at its side, or at the side of what holds it. */
    static List<?> cut(Browser page, String css) {
        return (List<?>) page.js(CUT, css);
    }

    /** Texts that stand out too little from what is behind them, each with its contrast; never empty when nothing matches. */
    static List<?> tooPale(Browser page, String css) {
        // What is just arriving is pale for a moment.
        page.seeTrue("return document.getAnimations().every(each =>"
                + " each.playState === 'finished' || each.effect.getComputedTiming().iterations === Infinity)");
        return (List<?>) page.js(PALE, css, READABLE);
    }
}
