// Names come from users and agents: nothing of theirs is ever markup.
export const escaped = (text: unknown) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
export const cell = (value: unknown, kind = '') => `<td${kind && ` class="${kind}"`}>${escaped(value)}</td>`;
export const table = (head: readonly string[], rows: readonly string[]) =>
  `<table><thead><tr>${head.map((name) => `<th>${escaped(name)}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
