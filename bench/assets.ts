/** Speed and memory of the asset collections, each against another program or a limit. */
import { measureNetworks } from './assets-networks.ts';
import { measurePcap } from './assets-pcap.ts';
import { createHttpTarget, measureUpload } from './assets-upload.ts';
import { type Row, report } from './report.ts';

const rows: Row[] = [
  ...(await measurePcap()),
  ...(await measureNetworks()),
  ...(await measureUpload(createHttpTarget)),
];
process.exitCode = report(rows) ? 0 : 1;
