"""Another implementation of gRPC: `serve` answers every message with itself, `call PORT` calls all four kinds."""
import sys
from concurrent import futures

import grpc


def refuse(request, context):
    context.abort(grpc.StatusCode.PERMISSION_DENIED, 'no')


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            '/t.Echo/Unary': grpc.unary_unary_rpc_method_handler(lambda request, context: request),
            '/t.Echo/Refuse': grpc.unary_unary_rpc_method_handler(refuse),
            '/t.Echo/Server': grpc.unary_stream_rpc_method_handler(lambda request, context: iter([request] * 7)),
            '/t.Echo/Client': grpc.stream_unary_rpc_method_handler(lambda requests, context: b''.join(requests)),
            '/t.Echo/Both': grpc.stream_stream_rpc_method_handler(lambda requests, context: requests),
        }.get(details.method)


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port('127.0.0.1:0')
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)


def call(port, kind):
    with grpc.insecure_channel(f'127.0.0.1:{port}') as channel:
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
    serve()
else:
    call(sys.argv[2], sys.argv[3])
