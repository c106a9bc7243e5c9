import type { CveDraft } from '@rushhour/contract';

type Category = NonNullable<CveDraft['category']>;

const rules: readonly (readonly [RegExp, Category])[] = [
  [/sqli|sql-?injection|\bsql\b/, 'sqli'],
  [/\bxss\b|cross-site-scripting/, 'xss'],
  [/xxe|xml-external/, 'xxe'],
  [/ssti|template-injection/, 'ssti'],
  [/deserial|jndi|log4j/, 'deserialization'],
  [/command-injection|cmd-?injection|\bcmdi\b|shell-injection|shellshock|\bshell\b/, 'command-injection'],
  [/\brce\b|code-execution|code-injection|\bphp\b/, 'rce'],
  [/\brfi\b/, 'rfi'],
  [/\blfi\b|file-inclusion/, 'lfi'],
  [/traversal|directory-traversal/, 'path-traversal'],
  [/ssrf/, 'ssrf'],
  [/ldap/, 'ldap'],
  [/nosql|mongo/, 'nosql'],
  [/crlf|response-splitting|header-injection/, 'crlf'],
  [/file-?upload/, 'file-upload'],
  [/auth-bypass|unauth|default-login/, 'auth-bypass'],
  [/exposure|disclosure|info-?leak|\bconfig\b/, 'info-leak'],
  [/protocol|smuggling/, 'protocol-anomaly'],
  [/scanner|\btech\b|detect|user-agent/, 'scanner'],
];

/** The attack category named by tags and titles. */
export const categoryOf = (...texts: readonly string[]): Category => {
  const text = texts.join(' ').toLowerCase().replaceAll(',', ' ').replaceAll('_', '-');
  return rules.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
};
