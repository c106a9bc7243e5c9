import { literal } from './members.ts';
import { Refusal } from './template.ts';

const maxRepeat = 1_048_576;

/** `{{.Payload}}`, where there is one, `{{ "A" | repeat 10 }}`, `{{ repeat 10 "A" }}` and `{{ randAlphaNum 8 }}` in our own words; other calls are refused. */
export const withoutGoTemplates = (text: string, payload?: string): string => {
  let [result, end] = ['', 0];
  for (const match of text.matchAll(/\{\{(.*?)\}\}/gs)) {
    result += literal(text.slice(end, match.index)) + translated(match[0], (match[1] ?? '').trim(), payload);
    end = match.index + match[0].length;
  }
  return result + literal(text.slice(end));
};

const translated = (whole: string, call: string, payload: string | undefined): string => {
  if (payload !== undefined && /^-?\s*\.Payload\s*-?$/.test(call)) return literal(payload);
  const piped = /^"((?:[^"\\]|\\.)*)"\s*\|\s*repeat\s+(\d+)$/.exec(call);
  const direct = /^repeat\s+(\d+)\s+"((?:[^"\\]|\\.)*)"$/.exec(call);
  const random = /^randAlphaNum\s+(\d+)$/.exec(call);
  if (piped) return repeated(piped[1] ?? '', Number(piped[2]));
  if (direct) return repeated(direct[2] ?? '', Number(direct[1]));
  if (random) return `{{randAlphaNum(${bounded(Number(random[1]))})}}`;
  // A function with arguments or behind a pipe; everything else is a payload that happens to have braces.
  if (/^-?\s*[A-Za-z]\w*\s+\S/.test(call) || /\|\s*[A-Za-z]/.test(call)) {
    throw new Refusal(`the template function in ${whole.slice(0, 60)} is not allowed`);
  }
  return literal(whole);
};

const repeated = (text: string, times: number) => `{{repeat("${text}", ${bounded(times)})}}`;

const bounded = (count: number) => {
  if (count > maxRepeat) throw new Refusal(`a template repeats a text ${count} times; ${maxRepeat} are the most`);
  return count;
};
