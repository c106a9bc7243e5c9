"""Another implementation of gRPC.

`serve KEY CERTIFICATE` answers every message with itself and prints its ports, without and with TLS.
`call PORT KIND [gzip|CERTIFICATE]` calls one of the four kinds, compressed or by TLS.
"""
import sys
from concurrent import futures

import grpc


def refuse(request, context):
    context.abort(grpc.StatusCode.PERMISSION_DENIED, 'no')


def compress(request, context):
    context.set_compression(grpc.Compression.Gzip)
    return request


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            '/t.Echo/Unary': grpc.unary_unary_rpc_method_handler(lambda request, context: request),
            '/t.Echo/Gzip': grpc.unary_unary_rpc_method_handler(compress),
            '/t.Echo/Refuse': grpc.unary_unary_rpc_method_handler(refuse),
            '/t.Echo/Server': grpc.unary_stream_rpc_method_handler(lambda request, context: iter([request] * 7)),
            '/t.Echo/Client': grpc.stream_unary_rpc_method_handler(lambda requests, context: b''.join(requests)),
            '/t.Echo/Both': grpc.stream_stream_rpc_method_handler(lambda requests, context: requests),
        }.get(details.method)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def serve(key, certificate):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port('127.0.0.1:0')
    credentials = grpc.ssl_server_credentials([(read(key), read(certificate))])
    secure = server.add_secure_port('127.0.0.1:0', credentials)
    server.start()
    print(f'{port} {secure}', flush=True)
    sys.stdin.read()
    server.stop(None)


def open_channel(port, how):
    if how in ('', 'gzip'):
        compression = grpc.Compression.Gzip if how == 'gzip' else None
        return grpc.insecure_channel(f'127.0.0.1:{port}', compression=compression)
    return grpc.secure_channel(f'localhost:{port}', grpc.ssl_channel_credentials(read(how)))


def call(port, kind, how=''):
    with open_channel(port, how) as channel:
        try:
            if kind == 'unary':
                answers = [channel.unary_unary('/t.Echo/Unary')(b'one')]
            elif kind == 'serverStreaming':
                answers = list(channel.unary_stream('/t.Echo/Server')(b'one'))
            elif kind == 'clientStreaming':
                answers = [channel.stream_unary('/t.Echo/Client')(iter([b'a', b'b', b'last']))]
            else:
                answers = list(channel.stream_stream('/t.Echo/Both')(iter([b'a', b'b' * 200000, b'c'])))
            print('OK', *[f'{len(answer)}{answer[:1].decode()}' for answer in answers])
        except grpc.RpcError as error:
            print(error.code().name)


if sys.argv[1] == 'serve':
    serve(*sys.argv[2:])
else:
    call(*sys.argv[2:])
