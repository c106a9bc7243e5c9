import { escapeHtml } from './inline.ts';
import { markdownHtml } from './markdown.ts';

/** Scripts are never needed; pictures and the style sheet come from here. */
export const guidePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'";

export const guideStyle = `:root { color-scheme: light dark; --line: light-dark(#d9dde3, #353b45); --soft: light-dark(#f4f6f8, #1b2027);
  --text: light-dark(#1c2430, #dfe5ec); --link: light-dark(#1558b0, #8ab4f8); --page: light-dark(#ffffff, #12161b); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.6 system-ui, sans-serif; display: grid;
  grid-template-columns: 17rem minmax(0, 1fr); min-height: 100vh; }
nav { border-right: 1px solid var(--line); background: var(--soft); padding: 1.5rem 1.25rem; font-size: .92rem; }
nav h1 { font-size: 1.1rem; margin: 0 0 1rem; } nav h2 { font-size: .8rem; margin: 1.25rem 0 .25rem; opacity: .75; }
nav ul { list-style: none; margin: 0; padding: 0; } nav p { display: none; }
main { padding: 1.5rem 2rem 4rem; max-width: 62rem; min-width: 0; }
a { color: var(--link); } a[aria-current] { font-weight: 600; text-decoration: none; color: inherit; }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem; } main > h1:first-child { margin-top: 0; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem 1rem; overflow-x: auto; }
code { font: .9em/1.5 ui-monospace, monospace; } :not(pre) > code { background: var(--soft); padding: .1em .3em; border-radius: .25rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .35rem .6rem;
  text-align: left; vertical-align: top; } th { background: var(--soft); }
img { max-width: 100%; } blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: .25rem solid var(--line); }
@media (max-width: 50rem) { body { display: block; } nav { border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul { columns: 2; } main { padding: 1rem; } }
`;

interface Page {
  readonly markdown: string;
  readonly address: string;
  readonly resolve: (target: string) => string;
}

const titleOf = (markdown: string) => /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? 'Guide';

/** The contents of the start page as a menu; the page that is shown is marked. */
const menuOf = (start: Page, address: string) =>
  markdownHtml(start.markdown, start.resolve)
    .replace(/(<li><a [^>]*>.*?<\/a>)[^<]*(?:<code>[^<]*<\/code>[^<]*)*/g, '$1')
    .replaceAll(`href="${address}"`, `href="${address}" aria-current="page"`);

/** A page of the guide as a document. */
export const guidePage = (page: Page, start: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(titleOf(page.markdown))} – Rushhour guide</title>
<link rel="stylesheet" href="/guide/style.css">
<link rel="icon" href="/favicon.svg">
</head>
<body>
<nav aria-label="Guide">
${menuOf(start, page.address)}
</nav>
<main>
${markdownHtml(page.markdown, page.resolve)}
</main>
</body>
</html>
`;
