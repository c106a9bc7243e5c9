import { expect, it } from 'vitest';
import { markdownHtml } from './markdown.ts';

const html = (text: string) => markdownHtml(text, (target) => `/guide/${target}`);

it('headings have the anchors of GitHub', () => {
  expect(html('## Two machines, `one` device')).toBe(
    '<h2 id="two-machines-one-device">Two machines, <code>one</code> device</h2>',
  );
});

it('paragraphs with bold, italic, code, links and pictures', () => {
  expect(html('**New** *test*: see\n[the `CLI`](cli.md).')).toBe(
    '<p><strong>New</strong> <em>test</em>: see\n<a href="/guide/cli.md">the <code>CLI</code></a>.</p>',
  );
  expect(html('![A run](run.svg)')).toBe('<p><img src="/guide/run.svg" alt="A run" loading="lazy"></p>');
});

it('raw HTML is text, and no mark makes a tag of it', () => {
  expect(html('<script>alert(1)</script> a & b')).toBe('<p>&lt;script&gt;alert(1)&lt;/script&gt; a &amp; b</p>');
  expect(html('`<b>` and [x](y"onclick=z)')).toBe(
    '<p><code>&lt;b&gt;</code> and <a href="/guide/y&quot;onclick=z">x</a></p>',
  );
  expect(html('<!-- for tests -->\ntext')).toBe('<p>text</p>');
});

it('code keeps its lines and marks', () => {
  expect(html('```sh\na *b* <c>\n\n  d\n```')).toBe(
    '<pre><code class="language-sh">a *b* &lt;c&gt;\n\n  d\n</code></pre>',
  );
});

it('tables, also with a bar in code', () => {
  expect(html('| A | B |\n|---|---|\n| `x|y` | 1 \\| 2 |')).toBe(
    '<div class="wide"><table><thead><tr><th>A</th><th>B</th></tr></thead>' +
      '<tbody><tr><td><code>x|y</code></td><td>1 | 2</td></tr></tbody></table></div>',
  );
});

it('lists nest, and items may hold code and go on in the next line', () => {
  expect(html('1. one\n   and a half\n2. two:\n\n   ```sh\n   x\n   ```\n3. three')).toBe(
    '<ol><li>one\nand a half</li><li>two:\n<pre><code class="language-sh">x\n</code></pre></li><li>three</li></ol>',
  );
  expect(html('- a\n  - b\n- c')).toBe('<ul><li>a\n<ul><li>b</li></ul></li><li>c</li></ul>');
  expect(html('4. four')).toBe('<ol start="4"><li>four</li></ol>');
});

it('quotes and lines', () => {
  expect(html('> a\n> b\n\n---')).toBe('<blockquote><p>a\nb</p></blockquote>\n<hr>');
});
