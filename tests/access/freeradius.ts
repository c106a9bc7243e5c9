import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Side } from '../engines/namespaces.ts';
import { runProgram } from './access-results.ts';

export const radiusSecret = 'shared-by-both';

const configOf = (folder: string): string => `
prefix = /usr
libdir = /usr/lib/freeradius
raddbdir = ${folder}
logdir = ${folder}
run_dir = ${folder}
client all {
  ipaddr = 0.0.0.0/0
  secret = ${radiusSecret}
  require_message_authenticator = yes
}
modules {
  pap { }
  chap { }
  mschap {
    use_mppe = no
  }
  files {
    filename = ${folder}/users
  }
  eap {
    default_eap_type = md5
    md5 { }
    gtc { }
    mschapv2 { }
    tls-config common {
      private_key_file = ${folder}/key.pem
      certificate_file = ${folder}/certificate.pem
      ca_file = ${folder}/certificate.pem
      tls_max_version = "1.2"
    }
    tls {
      tls = common
    }
    peap {
      tls = common
      default_eap_type = mschapv2
      virtual_server = inner
    }
  }
  detail {
    filename = ${folder}/detail
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = 1812
  }
  listen {
    type = acct
    ipaddr = 127.0.0.1
    port = 1813
  }
  authorize {
    chap
    mschap
    eap {
      ok = return
    }
    files
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
    Auth-Type CHAP {
      chap
    }
    Auth-Type MS-CHAP {
      mschap
    }
    eap
  }
  accounting {
    detail
  }
}
server inner {
  authorize {
    eap
    files
  }
  authenticate {
    Auth-Type MS-CHAP {
      mschap
    }
    eap
  }
}
`;

/** Starts FreeRADIUS on the loopback address of a namespace. */
export const startFreeRadius = async (side: Side, users: readonly string[]) => {
  // Not in memory: FreeRADIUS cannot open its accounting file on tmpfs.
  const folder = mkdtempSync('/tmp/rushhour-radius-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
  execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=radius.rushhour.test', ...files], {
    stdio: 'pipe',
  });
  writeFileSync(join(folder, 'dictionary'), '');
  writeFileSync(join(folder, 'users'), `${users.join('\n')}\n`);
  writeFileSync(join(folder, 'radiusd.conf'), configOf(folder));
  const server = runProgram(side, 'freeradius', ['-X', '-d', folder, '-n', 'radiusd']);
  const hasStarted = () => server.child.exitCode !== null || server.output().includes('Ready to process requests');
  await expect.poll(hasStarted, { timeout: 60_000 }).toBe(true);
  expect(server.output()).toContain('Ready to process requests');
  return {
    output: server.output,
    certificate: join(folder, 'certificate.pem'),
    /** Accounting records, each as the text between two empty lines. */
    records: (): string[] =>
      readdirSync(folder).includes('detail') ? readFileSync(join(folder, 'detail'), 'utf8').trim().split('\n\n') : [],
  };
};

/** The section of a profile for this server. */
export const radiusSection = (more: object = {}) => ({
  ...{ address: '127.0.0.1', secret: radiusSecret, timeoutSec: 1, attempts: 2, accounting: true },
  ...more,
});
