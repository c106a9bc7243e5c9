const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (mark) => entities[mark] ?? mark);

/** Turns the target of a link or picture of a page into an address of the site. */
export type Resolve = (target: string) => string;

/** One kind of marked text, tried in this order; what no kind matches is plain. */
interface Kind {
  readonly pattern: RegExp;
  html(found: readonly string[], inner: (text: string) => string, resolve: Resolve): string;
}

const target = '\\(([^()\\s]*(?:\\([^()\\s]*\\))?[^()\\s]*)\\)';

const kinds: readonly Kind[] = [
  { pattern: /^\\([\\`*_[\](){}#+.!|<>-])/, html: ([, mark = '']) => escapeHtml(mark) },
  { pattern: /^``\s?(.+?)\s?``(?!`)/, html: ([, code = '']) => `<code>${escapeHtml(code)}</code>` },
  { pattern: /^`([^`]+)`/, html: ([, code = '']) => `<code>${escapeHtml(code)}</code>` },
  {
    pattern: new RegExp(`^!\\[([^\\]]*)\\]${target}`),
    html: ([, text = '', path = ''], _inner, resolve) =>
      `<img src="${escapeHtml(resolve(path))}" alt="${escapeHtml(text)}" loading="lazy">`,
  },
  {
    pattern: new RegExp(`^\\[((?:[^[\\]\`]|\`[^\`]*\`)+)\\]${target}`),
    html: ([, text = '', path = ''], inner, resolve) => `<a href="${escapeHtml(resolve(path))}">${inner(text)}</a>`,
  },
  {
    pattern: /^<(https?:\/\/[^\s<>]+)>/,
    html: ([, address = '']) => `<a href="${escapeHtml(address)}">${escapeHtml(address)}</a>`,
  },
  { pattern: /^\*\*(?=\S)(.+?)\*\*/, html: ([, text = ''], inner) => `<strong>${inner(text)}</strong>` },
  { pattern: /^\*(?=[^\s*])([^*]+)\*/, html: ([, text = ''], inner) => `<em>${inner(text)}</em>` },
];

/** Text of one paragraph, cell or heading as HTML. Raw HTML is shown as text. */
export const inlineHtml = (text: string, resolve: Resolve): string => {
  const inner = (part: string) => inlineHtml(part, resolve);
  let html = '';
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const plain = /^[^\\`![<*]+/.exec(rest)?.[0];
    if (plain !== undefined) {
      html += escapeHtml(plain);
      at += plain.length;
      continue;
    }
    const kind = kinds.find(({ pattern }) => pattern.test(rest));
    const found = kind?.pattern.exec(rest);
    html += kind && found ? kind.html(found, inner, resolve) : escapeHtml(rest.charAt(0));
    at += found?.[0].length ?? 1;
  }
  return html;
};

/** The text of a heading as the end of a link, as GitHub makes it. */
export const anchorOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
