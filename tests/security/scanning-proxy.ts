import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eicarBytes } from '../../packages/controller/src/security/malware/generate/contents.ts';
import { requireProgram } from '../engines/programs.ts';
import { until } from '../system/system.ts';
import { addresses, type Lab, untilListening } from './lab.ts';

export const proxyPort = 8088;

/** The module folder of c-icap, which depends on the architecture in Debian. */
const modulesFolder = () => {
  for (const folder of readdirSync('/usr/lib')) {
    const path = join('/usr/lib', folder, 'c_icap');
    try {
      if (readdirSync(path).includes('virus_scan.so')) return path;
    } catch {
      // No such folder.
    }
  }
  throw new Error('c-icap has no module virus_scan: install libc-icap-mod-virus-scan');
};

/** The scanner has one signature, written here: the standard test file. Nothing is downloaded. */
const startScanner = async (lab: Lab, folder: string) => {
  const database = join(folder, 'signatures');
  mkdirSync(database);
  lab.file('scan/signatures/local.ndb', `Local.TestFile:0:*:${eicarBytes().toString('hex')}\n`);
  const socket = join(folder, 'clamd.sock');
  const config = [
    'Foreground yes',
    'User root',
    `DatabaseDirectory ${database}`,
    `LocalSocket ${socket}`,
    'LocalSocketMode 666',
    'ScanArchive yes',
    'ScanMail yes',
    'ScanPDF yes',
    'ScanOLE2 yes',
    'FixStaleSocket yes',
  ];
  lab.startInDevice('clamd', '-c', lab.file('scan/clamd.conf', `${config.join('\n')}\n`));
  await until('the scanner', async () => readdirSync(folder).includes('clamd.sock'));
  return socket;
};

const startIcap = async (lab: Lab, folder: string, scanner: string) => {
  const modules = modulesFolder();
  const config = [
    `PidFile ${folder}/c-icap.pid`,
    `CommandsSocket ${folder}/c-icap.ctl`,
    'Port 127.0.0.1:1344',
    'User root',
    'Group root',
    `TmpDir ${folder}`,
    `ServerLog ${folder}/c-icap.log`,
    `ModulesDir ${modules}`,
    `ServicesDir ${modules}`,
    'LoadMagicFile /etc/c-icap/c-icap.magic',
    'acl all src 0.0.0.0/0.0.0.0',
    'icap_access allow all',
    'Module common clamd_mod.so',
    `clamd_mod.ClamdSocket ${scanner}`,
    'Service avscan virus_scan.so',
    'virus_scan.ScanFileTypes TEXT DATA EXECUTABLE ARCHIVE GRAPHICS STREAM DOCUMENT',
    'virus_scan.SendPercentData 0',
    'virus_scan.MaxObjectSize 20M',
    'virus_scan.DefaultEngine clamd',
  ];
  lab.startInDevice('c-icap', '-N', '-D', '-f', lab.file('scan/c-icap.conf', `${config.join('\n')}\n`));
  await untilListening(lab, 1344);
};

const startSquid = async (lab: Lab, folder: string) => {
  const icap = (name: string, point: string) => [
    `icap_service ${name} ${point} icap://127.0.0.1:1344/avscan bypass=off`,
    `adaptation_access ${name} allow all`,
  ];
  const config = [
    `http_port ${addresses.device}:${proxyPort} accel defaultsite=app.test no-vhost`,
    `cache_peer ${addresses.server} parent ${proxyPort} 0 no-query originserver name=server`,
    'never_direct allow all',
    'http_access allow all',
    'cache deny all',
    'visible_hostname device.test',
    'pid_filename none',
    'access_log none',
    `cache_log ${folder}/squid.log`,
    `coredump_dir ${folder}`,
    'shutdown_lifetime 1 seconds',
    'icap_enable on',
    'icap_service_failure_limit -1',
    'icap_preview_enable off',
    ...icap('there', 'reqmod_precache'),
    ...icap('back', 'respmod_precache'),
  ];
  lab.startInDevice('squid', '-N', '-f', lab.file('scan/squid.conf', `${config.join('\n')}\n`));
  await untilListening(lab, proxyPort);
};

/** An independent web gateway: squid passes requests and answers to c-icap, which passes them to ClamAV. */
export const startScanningProxy = async (lab: Lab) => {
  for (const program of ['squid', 'c-icap', 'clamd']) requireProgram(program);
  const folder = join(lab.folder, 'scan');
  mkdirSync(folder);
  // Squid drops its privileges after reading its configuration.
  chmodSync(lab.folder, 0o755);
  chmodSync(folder, 0o777);
  const scanner = await startScanner(lab, folder);
  await startIcap(lab, folder, scanner);
  await startSquid(lab, folder);
};
