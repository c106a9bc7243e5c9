import { createSelfSigned } from '../../packages/agent/src/net/tls/self-signed.ts';
import { type Lab, untilListening } from './lab.ts';

/** TLS with HTTP/2 to clients, TLS with HTTP/1.1 to the server. */
const secureLines = (lab: Lab, port: number) => {
  const { certificate, privateKey } = createSelfSigned(['device.test']);
  return `listen ${port} ssl http2;
        ssl_certificate ${lab.file('device.crt', certificate)};
        ssl_certificate_key ${lab.file('device.key', privateKey)};`;
};

interface ModSecurityOptions {
  readonly engine: 'On' | 'DetectionOnly' | 'Off';
  readonly port: number;
  readonly upstream: string;
  readonly isSecure?: boolean;
  /** gRPC calls over HTTP/2 without TLS; how refusals are written. */
  readonly grpc?: 'page' | 'status';
  /** Another port with the same rules, in front of a server of its own that marks its answers. */
  readonly plainPort?: number;
}

/** Nothing in the Core Rule Set reads messages of gRPC: a rule of the one who runs it does. */
const grpcRules = [
  `SecRule REQUEST_HEADERS:Content-Type "@beginsWith application/grpc" "id:'200010',phase:1,pass,nolog,ctl:ruleRemoveById=920420"`,
  `SecRule REQUEST_BODY "@detectXSS" "id:'200011',phase:2,t:none,t:utf8toUnicode,deny,status:403,nolog"`,
  `SecRule REQUEST_BODY "@rx (?i)unions+(alls+)?select" "id:'200012',phase:2,t:none,deny,status:403,nolog"`,
];

/** Where requests go, and what becomes of those that the rules stop. */
const passing = ({ isSecure, upstream, grpc }: ModSecurityOptions): string => {
  if (grpc === undefined)
    return `location / {
          proxy_pass ${isSecure ? 'https' : 'http'}://${upstream};
          proxy_set_header Host $http_host;
          proxy_http_version 1.1;
        }`;
  const refusal = `error_page 403 = /refused;
        location = /refused {
          internal;
          modsecurity off;
          default_type application/grpc;
          add_header grpc-status 7 always;
          add_header grpc-message "not allowed" always;
          return 200;
        }`;
  return `${grpc === 'status' ? refusal : ''}
        location / { grpc_pass grpc://${upstream}; }`;
};

/** For clients that are not ours: what the rules let through is answered by nginx itself. */
const plainServers = (port: number, engine: string, rules: string) => `
      server {
        listen ${port};
        modsecurity ${engine === 'Off' ? 'off' : 'on'};
        ${engine === 'Off' ? '' : `modsecurity_rules_file ${rules};`}
        location / {
          proxy_pass http://127.0.0.1:${port + 1};
          proxy_set_header Host plain.test;
          proxy_http_version 1.1;
        }
      }
      server {
        listen 127.0.0.1:${port + 1};
        client_max_body_size 100m;
        location / {
          add_header X-Plain-Upstream yes always;
          return 200;
        }
      }`;

/** An independent web application firewall: nginx with ModSecurity and the OWASP Core Rule Set. */
export const startModSecurity = async (lab: Lab, options: ModSecurityOptions) => {
  const { engine, port, isSecure = false, plainPort, grpc } = options;
  const name = `modsecurity-${engine}`;
  const rules = lab.file(
    `${name}.conf`,
    [
      `SecRuleEngine ${engine}`,
      'SecRequestBodyAccess On',
      'SecResponseBodyAccess Off',
      'SecRequestBodyLimit 13107200',
      'SecRequestBodyNoFilesLimit 1048576',
      'SecPcreMatchLimit 100000',
      'SecPcreMatchLimitRecursion 100000',
      'SecUnicodeMapFile /etc/nginx/unicode.mapping 20127',
      `SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" "id:'200000',phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"`,
      `SecRule REQUEST_HEADERS:Content-Type "^application/json" "id:'200001',phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"`,
      'SecAuditEngine Off',
      'Include /etc/modsecurity/crs/crs-setup.conf',
      'Include /usr/share/modsecurity-crs/rules/*.conf',
      ...(grpc === undefined ? [] : grpcRules),
    ].join('\n'),
  );
  const config = lab.file(
    `${name}-nginx.conf`,
    `
    load_module /usr/lib/nginx/modules/ngx_http_modsecurity_module.so;
    worker_processes 1;
    daemon off;
    pid ${lab.folder}/${name}.pid;
    error_log ${lab.folder}/${name}.log crit;
    events { worker_connections 256; }
    http {
      access_log off;
      client_body_temp_path ${lab.folder};
      proxy_temp_path ${lab.folder};
      fastcgi_temp_path ${lab.folder};
      uwsgi_temp_path ${lab.folder};
      scgi_temp_path ${lab.folder};
      server {
        ${isSecure ? secureLines(lab, port) : `listen ${port}${grpc === undefined ? '' : ' http2'};`}
        modsecurity ${engine === 'Off' ? 'off' : 'on'};
        ${engine === 'Off' ? '' : `modsecurity_rules_file ${rules};`}
        ${passing(options)}
      }${plainPort === undefined ? '' : plainServers(plainPort, engine, rules)}
    }`,
  );
  const stop = lab.startInDevice('nginx', '-c', config, '-g', 'user root;');
  await untilListening(lab, port);
  return stop;
};
