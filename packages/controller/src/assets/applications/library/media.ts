import { noise, type Part, u8, zeros } from './bytes.ts';
import { host, path, request, response } from './http-messages.ts';
import { type LibraryApplication, tcp } from './script.ts';

const web = tcp(80);
const video = host('video.test');

/** Packets of an MPEG transport stream without pictures. */
const transportStream = (packets: number): Part =>
  Array.from({ length: packets }, (_, index) => [u8(0x47, 0x01, 0x00, 0x10 | (index & 15)), noise(184, index + 1)]);

const segment = (index: number): ReturnType<typeof web.client>[] => [
  web.client(request('GET', `/stream/segment${index}.ts`, video)),
  web.server(response('200 OK', { type: 'video/mp2t', body: [transportStream(170)] })),
];
const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${[1, 2, 3].map((n) => `#EXTINF:4,\nsegment${n}.ts\n`).join('')}#EXT-X-ENDLIST\n`;

export const hlsVideo: LibraryApplication = {
  name: 'HLS video',
  description: 'Playlist and three segments of 32 KB of an HLS video.',
  tags: 'library,video,web',
  recognisedAs: 'mp2t',
  steps: [
    web.client(request('GET', path('/stream/index.m3u8'), video)),
    web.server(response('200 OK', { type: 'application/vnd.apple.mpegurl', body: [playlist] })),
    ...[1, 2, 3].flatMap(segment),
  ],
};

const manifest =
  '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT12S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="v1" bandwidth="1200000"><SegmentTemplate media="v1-$Number$.m4s" duration="4"/></Representation></AdaptationSet></Period></MPD>';
const part = (index: number) => [
  web.client(request('GET', `/dash/v1-${index}.m4s`, video)),
  web.server(response('200 OK', { type: 'video/iso.segment', body: [noise(30_000, index)] })),
];

export const dashVideo: LibraryApplication = {
  name: 'DASH video',
  description: 'Manifest and three segments of 30 KB of a DASH video.',
  tags: 'library,video,web',
  recognisedAs: 'http',
  steps: [
    web.client(request('GET', path('/dash/manifest.mpd'), video)),
    web.server(response('200 OK', { type: 'application/dash+xml', body: [manifest] })),
    ...[1, 2, 3].flatMap(part),
  ],
};

export const softwareUpdate: LibraryApplication = {
  name: 'Software update',
  description: 'A package is downloaded in two ranges.',
  tags: 'library,web,update,file',
  recognisedAs: 'http',
  steps: [0, 1].flatMap((index) => [
    web.client(
      request('GET', path('/pool/tool_2.1_amd64.deb'), host('packages.test'), {
        headers: [`Range: bytes=${index * 32_768}-${index * 32_768 + 32_767}`],
      }),
    ),
    web.server(
      response('206 Partial Content', {
        type: 'application/octet-stream',
        headers: [`Content-Range: bytes ${index * 32_768}-${index * 32_768 + 32_767}/65536`],
        body: [noise(32_768, index + 3)],
      }),
    ),
  ]),
};

const rtmp = tcp(1935);
const hello = [zeros(8), noise(1528, 5)];
export const rtmpStream: LibraryApplication = {
  name: 'RTMP handshake',
  description: 'The handshake with which a live stream begins.',
  tags: 'library,video',
  recognisedAs: 'rtmpt',
  steps: [rtmp.client(u8(3), hello), rtmp.server(u8(3), hello, hello), rtmp.client(hello)],
};
