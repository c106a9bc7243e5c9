"""Sends test cases of other tools through a device with plain sockets and says what the device let through.

Shares nothing with the product: the files are read again, as the documentation and sources of the tools describe them.

    plain-client.py FORMAT FOLDER ADDRESS PORT NAME

FORMAT is http-raw (blazehttp), ftw, gotestwaf or nuclei; NAME is the host of requests without one. Prints one JSON
object for each case: path, case, and `passed` (null when nothing answers, or when a case cannot be built here).
"""

import base64
import hashlib
import itertools
import json
import os
import random
import re
import socket
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import yaml

FORM = "application/x-www-form-urlencoded"
PROOF = b"x-plain-upstream: yes"


class Unknown(Exception):
    """This client cannot build the case."""


def strings(loader, node):
    return loader.construct_scalar(node)


# Numbers and dates of templates are text; so are the names of headers such as `on`.
class Texts(yaml.SafeLoader):
    pass


for tag in ("int", "float", "timestamp"):
    Texts.add_constructor(f"tag:yaml.org,2002:{tag}", strings)


def read_yaml(path):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    try:
        return yaml.load(text, Texts)
    except yaml.scanner.ScannerError:
        # The YAML of Go takes an escaped apostrophe between quotation marks.
        return yaml.load(text.replace("\\'", "'"), Texts)


def latin(text):
    return text.encode("utf-8") if isinstance(text, str) else text


def request(method, target, headers, body=b"", version="HTTP/1.1"):
    lines = [latin(method) + b" " + latin(target) + b" " + latin(version)]
    lines += [latin(name) + b": " + latin(str(value)) for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def has(headers, name):
    return any(key.lower() == name for key, _ in headers)


# blazehttp: the file, with the host of the target, its own connection and the length of its body.
def blazehttp_cases(path, name):
    with open(path, "rb") as file:
        content = file.read().lstrip(b"\r\n")
    parts = re.split(rb"\r?\n\r?\n", content, maxsplit=1)
    head, body = parts[0], parts[1] if len(parts) > 1 else b""
    first, *lines = re.split(rb"\r?\n", head)
    headers = []
    for line in lines:
        key, _, value = line.partition(b":")
        if key.lower() in (b"host", b"content-length", b"connection"):
            continue
        headers.append(key + b":" + value)
    headers = [b"Host: " + name.encode()] + headers + [b"Connection: close"]
    if body:
        headers.append(b"Content-Length: %d" % len(body))
    yield "", [b"\r\n".join([first] + headers) + b"\r\n\r\n" + body]


# go-ftw: headers, forms and lengths are completed unless a stage forbids it.
def ftw_cases(path, _name):
    document = read_yaml(path)
    rule = str(document.get("rule_id", ""))
    for number, test in enumerate(document.get("tests") or [], 1):
        title = str(test.get("test_title") or f"{rule}-{test.get('test_id') or number}")
        try:
            yield title, [ftw_request(stage.get("stage", stage)["input"]) for stage in test["stages"]]
        except (Unknown, KeyError):
            yield title, None


def ftw_request(given):
    if given.get("encoded_request"):
        return base64.b64decode(given["encoded_request"])
    if "{{" in json.dumps(given):
        raise Unknown("templates of go-ftw")
    headers = [(key, "" if value is None else str(value)) for key, value in (given.get("headers") or {}).items()]
    data = given.get("data") or ""
    body = latin("\r\n".join(data) if isinstance(data, list) else str(data))
    completed = given.get("autocomplete_headers", True) and not given.get("stop_magic", False)
    method = given.get("method") or "GET"
    if body and completed:
        if not has(headers, "content-type"):
            headers.append(("Content-Type", FORM))
        if any(key.lower() == "content-type" and value.lower() == FORM for key, value in headers):
            body = escaped_form(body)
    if any(key.lower() == "content-type" and "multipart/form-data;" in value for key, value in headers):
        body = body.replace(b"\n", b"\r\n")
    if completed:
        if not has(headers, "connection"):
            headers.append(("Connection", "close"))
        if not has(headers, "content-length") and (body or method in ("POST", "PUT", "PATCH", "DELETE")):
            headers.append(("Content-Length", len(body)))
    return request(method, given.get("uri") or "/", headers, body, given.get("version") or "HTTP/1.1")


def escaped_form(body):
    if b"%" in body or b"+" in body:
        return body
    fields = body.split(b"&")
    if fields[-1] == b"":
        fields.pop()
    quote = lambda part: urllib.parse.quote_plus(part, safe="").encode()
    return b"&".join(b"=".join(quote(part) for part in field.split(b"=", 1)) for field in fields)


# gotestwaf: every payload in every encoding at every place, written by the HTTP client of Go.
BROWSER = [
    ("Pragma", "no-cache"),
    ("Cache-Control", "no-cache"),
    ("Upgrade-Insecure-Requests", "1"),
    ("User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/122.0.0.0 Safari/537.36"),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Accept-Language", "en-US;q=0.8,en;q=0.7"),
]
ENCODERS = {
    "plain": lambda text: text,
    "url": lambda text: urllib.parse.quote(text, safe="$&+=:@~"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64flat": lambda text: base64.b64encode(text.encode()).decode().replace("=", ""),
    "jsunicode": lambda text: utf16_escaped(text),
    "xmlentity": lambda text: xml_string(text),
}


def utf16_escaped(text):
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def xml_string(text):
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;"), ("'", "&#39;")):
        text = text.replace(mark, entity)
    for mark, entity in (("\t", "&#x9;"), ("\n", "&#xA;"), ("\r", "&#xD;")):
        text = text.replace(mark, entity)
    return f"<string>{text}</string>"


def go_target(text):
    """The request target of an address that ends so, or None where `url.Parse` refuses it."""
    if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in text):
        return None
    address = text.split("#", 1)[0]
    path, mark, query = address.partition("?")
    if re.search(r"%(?![0-9a-fA-F]{2})", path):
        return None
    if not re.fullmatch(r"(?:[A-Za-z0-9_.~$&+,/:;=@!'()*\[\]-]|%[0-9a-fA-F]{2})*", path):
        path = urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="$&+,/:;=@~")
    return path + mark + query


def gotestwaf_cases(path, name):
    document = read_yaml(path)
    folder = "/".join(re.sub(r"\.ya?ml$", "", path).split(os.sep)[-2:])
    for encoder in document.get("encoder") or ["Plain"]:
        for place in document.get("placeholder") or []:
            place, options = next(iter(place.items())) if isinstance(place, dict) else (place, {})
            made = (
                gotestwaf_request(str(place).lower(), options or {}, ENCODERS[encoder.lower()](payload), name)
                for payload in dict.fromkeys(map(str, document["payload"]))
                if payload != ""
            )
            requests = [one for one in made if one is not None]
            for number, one in enumerate(requests, 1):
                yield f"{folder}/{encoder}/{place}:{number}", None if one == b"" else [one]


def gotestwaf_request(place, options, payload, name):
    """None where Go refuses to send it, no bytes where this client cannot build it."""
    get = lambda target, more=(): go_http("GET", target, list(more), b"", name)
    post = lambda kind, text, more=(): go_http(
        "POST", "/", list(more) + ([("Content-Type", kind)] if kind else []), latin(text), name
    )
    if place == "urlpath":
        target = go_target("/" + payload)
        return None if target is None else get(target)
    if place == "urlparam":
        target = go_target("/?a4f19c0b7e=" + payload)
        return None if target is None else get(target)
    if place in ("header", "useragent"):
        if re.search(r"[\r\n\0]", payload):
            return None
        return get("/", [("User-Agent" if place == "useragent" else "X-a4f19c0b7e", payload)])
    if place == "requestbody":
        return post("", payload)
    if place == "htmlform":
        return post(FORM, "a4f19c0b7e=" + payload)
    if place == "htmlmultipartform":
        line = "5f1d3c8e7a9b40d2c6e1f0a3b4d5c6e7f8091a2b3c4d5e6f708192a3b4c5"
        part = f'--{line}\r\nContent-Disposition: form-data; name="a4f19c0b7e"\r\n\r\n{payload}\r\n--{line}--\r\n'
        return post("multipart/form-data; boundary=" + line, part)
    if place == "jsonbody":
        return post("application/json", payload)
    if place == "jsonrequest":
        return post("application/json", '{"test": true, "a4f19c0b7e": "%s"}' % utf16_escaped(payload))
    if place == "xmlbody":
        return post("application/xml", payload)
    if place == "graphql":
        if str(options.get("method")).upper() == "GET":
            return get("/?query=" + urllib.parse.quote_plus(payload, safe="~"))
        return post("", payload)
    if place == "rawrequest":
        return raw_request(options, payload, name)
    return b""


def raw_request(options, payload, name):
    put = lambda text: str(text).replace("{{payload}}", payload)
    address = "/" + str(options.get("path") or "/").lstrip("/")
    target = go_target(address.replace("{{payload}}", urllib.parse.quote(payload, safe="$&+=:@~")))
    headers = [(key, put(value)) for key, value in (options.get("headers") or {}).items()]
    if target is None or any(re.search(r"[\r\n\0]", value) for _, value in headers):
        return None
    return go_http(put(options["method"]), target, headers, latin(put(options.get("body") or "")), name)


def go_http(method, target, headers, body, name):
    whole = [("Host", name)] + headers + [pair for pair in BROWSER if not has(headers, pair[0].lower())]
    if body or method == "POST":
        whole.append(("Content-Length", len(body)))
    return request(method, target, whole, body)


# nuclei: requests by path and raw ones, with the names and functions that most templates use.
def letters(count, alphabet="abcdefghijklmnopqrstuvwxyz0123456789"):
    return "".join(random.choice(alphabet) for _ in range(count))


FUNCTIONS = {
    "rand_base": lambda count, *_: letters(int(count)),
    "rand_text_alpha": lambda count, *_: letters(int(count), "abcdefghijklmnopqrstuvwxyz"),
    "rand_text_alphanumeric": lambda count, *_: letters(int(count)),
    "rand_text_numeric": lambda count, *_: letters(int(count), "0123456789"),
    "rand_int": lambda low, high="100000": str(random.randint(int(low), int(high))),
    "to_lower": lambda text: text.lower(),
    "to_upper": lambda text: text.upper(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "md5": lambda text: hashlib.md5(text.encode()).hexdigest(),
    "url_encode": lambda text: urllib.parse.quote_plus(text, safe="~"),
}
USER_GIVEN = {"username": "admin", "password": "Passw0rd!", "user": "admin", "pass": "Passw0rd!", "email": "admin@site.test"}


def evaluated(expression, values):
    text = expression.strip()
    quoted = re.fullmatch(r"'([^']*)'|\"([^\"]*)\"", text)
    if quoted:
        return expanded(quoted.group(1) if quoted.group(1) is not None else quoted.group(2), values)
    if re.fullmatch(r"\d+", text):
        return text
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", text):
        return named(text, values)
    call = re.fullmatch(r"([a-z0-9_]+)\(([^()]*)\)", text)
    if call is None or call.group(1) not in FUNCTIONS:
        raise Unknown(expression)
    arguments = re.findall(r"\s*('[^']*'|\"[^\"]*\"|[^,]+)\s*(?:,|$)", call.group(2))
    return FUNCTIONS[call.group(1)](*[evaluated(argument, values) for argument in arguments])


def named(name, values):
    if name not in values:
        if re.fullmatch(r"randstr(_\d+)?", name):
            values[name] = letters(27)
        else:
            values[name] = USER_GIVEN.get(name.lower()) or letters(12)
    return values[name]


def expanded(text, values):
    for _ in range(3):
        if "{{" not in text:
            return text
        text = re.sub(r"\{\{([^{}]*)\}\}", lambda found: evaluated(found.group(1), values), text)
    if "{{" in text:
        raise Unknown(text)
    return text


def nuclei_cases(path, name):
    template = read_yaml(path)
    identifier = str(template.get("id") or path)
    blocks = template.get("http") or template.get("requests") or []
    if template.get("flow") or len(blocks) != 1 or any(part in template for part in ("tcp", "network", "dns", "code")):
        yield identifier, None
        return
    block = blocks[0]
    matchers = json.dumps(block.get("matchers") or "")
    apart = len(block.get("path") or []) > 1 and not block.get("req-condition") and not re.search(r"[a-z]_\d+\b", matchers)
    groups = [[one] for one in block["path"]] if apart and not block.get("raw") else [block.get("raw") or block.get("path") or []]
    for number, group in enumerate(groups[:20], 1):
        own = identifier if number == 1 else f"{identifier}#{number}"
        yield from nuclei_group(own, block, group, template.get("variables") or {}, name)


def nuclei_group(identifier, block, group, variables, name):
    payloads = block.get("payloads") or {}
    if not all(isinstance(values, list) for values in payloads.values()):
        yield identifier, None
        return
    lists = [[str(value) for value in values] for values in payloads.values()]
    kind = block.get("attack") or ("clusterbomb" if len(lists) > 1 else "batteringram")
    rows = list(itertools.product(*lists) if kind == "clusterbomb" else zip(*lists)) if lists else [()]
    for number, row in enumerate(rows[:50], 1):
        case = f"{identifier}:{number}" if len(rows) > 1 else identifier
        try:
            values = {"Hostname": name, "Host": name, "FQDN": name, "Port": "80", "Scheme": "http", "interactsh-url": letters(33) + ".oob.test"}
            values.update({"BaseURL": f"http://{name}", "RootURL": f"http://{name}"})
            values.update(zip(payloads.keys(), row))
            for key, value in variables.items():
                values[key] = expanded(str(value), values)
            build = nuclei_raw if block.get("raw") else nuclei_path
            yield case, [build(block, one, values, name) for one in group]
        except (Unknown, KeyError, TypeError, ValueError):
            yield case, None


NUCLEI = [("Accept-Encoding", "gzip"), ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36")]


def nuclei_path(block, path, values, name):
    target = re.sub(r"^\w+://[^/?#]*", "", expanded(str(path).strip(), values))
    if re.search(r"\s", target):
        raise Unknown("space")
    headers = [(key, expanded(str(value), values)) for key, value in (block.get("headers") or {}).items()]
    headers += [pair for pair in [("Accept", "*/*"), ("Accept-Language", "en")] if not has(headers, pair[0].lower())]
    body = expanded(str(block.get("body") or ""), values)
    return nuclei_request(block.get("method") or "GET", target, headers, body.replace("\r\n", "\n").replace("\n", "\r\n"), name)


def nuclei_raw(_block, raw, values, name):
    text = re.sub(r"^(?:\s*@[a-z-]+:[^\n]*\n)+", "", str(raw)).lstrip()
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    first, *lines = head.split("\n")
    line = re.fullmatch(r"(\S+)\s+(.*?)(?:\s+HTTP/[\d.]+)?\s*", expanded(first, values))
    if line is None or re.search(r"\s", line.group(2)):
        raise Unknown("request line")
    pairs = [line.split(":", 1) for line in lines if line.find(":") > 0]
    headers = [(key, expanded(value.strip(), values)) for key, value in pairs]
    multipart = any(key.lower() == "content-type" and "multipart/" in value for key, value in headers)
    body = expanded(body, values).replace("\n", "\r\n")
    if not multipart:
        body = body.removesuffix("\r\n")
    target = re.sub(r"^\w+://[^/?#]*", "", line.group(2))
    return nuclei_request(line.group(1), target, headers, body, name)


def nuclei_request(method, target, headers, body, name):
    host = [pair for pair in headers if pair[0].lower() == "host"] or [("Host", name)]
    kept = [pair for pair in headers if pair[0].lower() not in ("host", "content-length", "connection")]
    added = [pair for pair in NUCLEI if not has(kept, pair[0].lower())]
    content = latin(body)
    length = [("Content-Length", len(content))] if content or method in ("POST", "PUT", "PATCH") else []
    if target == "" or target[0] not in "/*":
        target = "/" + target
    return request(method, target, host[:1] + kept + added + length + [("Connection", "close")], content)


CASES = {"http-raw": blazehttp_cases, "ftw": ftw_cases, "gotestwaf": gotestwaf_cases, "nuclei": nuclei_cases}


def passes(address, content):
    """True when the upstream answers, False when the device does, None when nobody does."""
    try:
        with socket.create_connection(address, 5) as connection:
            connection.settimeout(5)
            try:
                connection.sendall(content)
            except OSError:
                pass  # A device may answer and close before it has read everything.
            answer = b""
            while b"\r\n\r\n" not in answer and len(answer) < 65536:
                piece = connection.recv(65536)
                if not piece:
                    break
                answer += piece
    except TimeoutError:
        return None
    except OSError:
        return False
    return PROOF in answer.lower()


def verdict(address, requests):
    """A case is stopped when one of its requests is."""
    if requests is None:
        return None
    found = None
    for content in requests:
        found = passes(address, content)
        if found is not True:
            return found
    return found


def files(folder):
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.join(root, name)


def wanted(kind, path):
    if kind == "http-raw":
        return path.endswith((".black", ".white"))
    return path.endswith((".yaml", ".yml"))


def main():
    kind, folder, address, port, name = sys.argv[1:]
    random.seed(1)
    cases = []
    for path in files(folder):
        if not wanted(kind, path):
            continue
        try:
            cases += [(path, case, requests) for case, requests in CASES[kind](path, name)]
        except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
            print(f"{path}: {error!r}"[:200], file=sys.stderr)
    target = (address, int(port))
    with ThreadPoolExecutor(4) as pool:
        for (path, case, _), found in zip(cases, pool.map(lambda item: verdict(target, item[2]), cases)):
            print(json.dumps({"path": os.path.relpath(path, folder), "case": case, "passed": found}))


main()
