import type { HttpRequest } from '@rushhour/protocol';

/** A harmless request as sites get it. */
export interface SiteRequest {
  readonly kind: string;
  readonly request: Omit<HttpRequest, 'version'>;
}

interface Language {
  readonly code: string;
  readonly names: readonly string[];
  readonly words: readonly string[];
  readonly sentences: readonly string[];
}

const languages: readonly Language[] = [
  {
    code: 'en-GB',
    names: ["Siobhan O'Neill", 'John Smith', 'Amara Okafor', 'Anne-Marie Dupont'],
    words: ['garden table', 'union jack mug', "men's shoes", 'drop handlebar', 'select committee report', 'C++ primer'],
    sentences: [
      "I can't open the file; it's 50% done.",
      'Where & when do we meet? (5 > 4)',
      'Please update set 3 from box 2.',
    ],
  },
  {
    code: 'de-DE',
    names: ['Jürgen Groß', 'Änne Müller', 'Max Mustermann', 'Łukasz Żak'],
    words: ['Gartenstuhl', 'Größe 42', 'Kühlschrank A++', 'Türöffner', 'Straßenkarte', 'Öl-/Wasserstand'],
    sentences: [
      'Können Sie mir bis 17:00 Uhr antworten?',
      'Preis: 12,50 € (inkl. 19 % MwSt.)',
      'Das Gerät "piept" – was tun?',
    ],
  },
  {
    code: 'fr-FR',
    names: ["Jean d'Arc", 'Zoé Lefèvre', "Noël L'Hôte", 'François Noir'],
    words: ["l'été", 'crème brûlée', "sac d'école", 'œuvres complètes', 'thé vert', 'café moulu'],
    sentences: [
      "J'ai l'impression qu'il manque 1 pièce.",
      'Livraison prévue : 3 à 5 jours',
      'Est-ce que c’est possible ?',
    ],
  },
  {
    code: 'es-ES',
    names: ['José Núñez', 'María de la O', 'Íñigo Ruiz', 'Begoña Peña'],
    words: ['mañana', 'niño 4 años', 'camión rojo', 'piña', 'jabón', 'señal'],
    sentences: ['¿Cuándo llega mi pedido nº 1234?', '¡Gracias! Todo perfecto.', 'El 50 % de descuento no se aplica.'],
  },
  {
    code: 'pl-PL',
    names: ['Łucja Śliwa', 'Grzegorz Brzęczyszczykiewicz', 'Zażółć Gęślą', 'Ewa Nowak'],
    words: ['łóżko', 'książka', 'źródło', 'żarówka 60 W', 'ćma', 'kawa'],
    sentences: ['Czy mogę zwrócić towar?', 'Zamówienie nr 55/2026 – status?', 'Dziękuję & pozdrawiam'],
  },
  {
    code: 'ru-RU',
    names: ['Иван Петров', 'Ольга Смирнова', 'Пётр Ильич', 'Анна Каренина'],
    words: ['книга', 'стол', 'чай зелёный', 'обувь 42', 'лампа', 'щётка'],
    sentences: ['Когда будет доставка?', 'Спасибо, всё отлично!', 'Цена 100 р. за 1 шт.'],
  },
  {
    code: 'ja-JP',
    names: ['山田太郎', '佐藤花子', '鈴木一郎', '高橋'],
    words: ['椅子', '緑茶', '本棚', '靴 26cm', '東京 地図', 'コーヒー'],
    sentences: ['注文の状況を教えてください。', '返品できますか?', 'ありがとうございます!'],
  },
  {
    code: 'ar-EG',
    names: ['محمد علي', 'فاطمة حسن', 'أحمد', 'ليلى'],
    words: ['كتاب', 'شاي', 'كرسي', 'حذاء', 'قهوة', 'مصباح'],
    sentences: ['متى يصل طلبي؟', 'شكرا جزيلا', 'هل يمكن الإرجاع؟'],
  },
];

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
];

interface Draft {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

interface Chosen {
  readonly name: string;
  readonly word: string;
  readonly sentence: string;
  readonly n: number;
}

const form = (values: Record<string, string | number>) =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString();
const posted = (path: string, type: string, body: string): Draft => ({ method: 'POST', path, type, body });
const boundary = '----WebKitFormBoundaryq7Zp2LxT0vNbK4sD';
const part = (head: string, body: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

const kinds: Readonly<Record<string, (chosen: Chosen) => Draft>> = {
  search: ({ word, n }) => ({ method: 'GET', path: `/search?${form({ q: word, page: n % 9, sort: 'price-asc' })}` }),
  product: ({ word, n }) => ({ method: 'GET', path: `/p/${encodeURIComponent(word)}-${n}?ref=list&utm_source=mail` }),
  contact: ({ name, sentence, n }) =>
    posted(
      '/contact',
      'application/x-www-form-urlencoded',
      form({ name, email: `user${n}@mail.test`, message: sentence }),
    ),
  login: ({ n }) =>
    posted(
      '/login',
      'application/x-www-form-urlencoded',
      form({ user: `user${n}`, password: `S3cret&${n}=#`, next: '/account?tab=1' }),
    ),
  checkout: ({ name, word, n }) =>
    posted(
      '/api/v1/orders',
      'application/json',
      JSON.stringify({ customer: { name }, items: [{ sku: `A-${n}`, title: word, qty: 1 + (n % 4) }], total: 19.9 }),
    ),
  comment: ({ name, sentence, n }) =>
    posted(
      `/api/posts/${n}/comments`,
      'application/json',
      JSON.stringify({ author: name, text: sentence, tags: ['news'] }),
    ),
  filter: ({ word, n }) => ({
    method: 'GET',
    path: `/api/v2/items?${form({ 'filter[title]': word, 'range[]': `${n}-${n + 9}`, fields: 'id,title' })}`,
  }),
  graphql: ({ word, n }) =>
    posted(
      '/graphql',
      'application/json',
      JSON.stringify({
        query: 'query Items($t: String!, $n: Int) { items(title: $t, first: $n) { id title price { amount } } }',
        variables: { t: word, n },
      }),
    ),
  upload: ({ name, sentence, n }) =>
    posted(
      '/files',
      `multipart/form-data; boundary=${boundary}`,
      `${part('name="owner"', name)}${part(`name="file"; filename="notes-${n}.txt"`, sentence)}--${boundary}--\r\n`,
    ),
  soap: ({ word, n }) =>
    posted(
      '/ws',
      'text/xml; charset=utf-8',
      `<?xml version="1.0" encoding="utf-8"?><Envelope><Body><Find><Id>${n}</Id><Title>${word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</Title></Find></Body></Envelope>`,
    ),
};

const kindNames = Object.keys(kinds);
const perKind = 72;

/** How many different requests there are. */
export const siteRequestCount = kindNames.length * languages.length * perKind;

const at = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** The n-th request: each kind in each language, with other names, words and numbers. */
export const siteRequest = (n: number): SiteRequest => {
  const kind = at(kindNames, n);
  const language = at(languages, Math.floor(n / kindNames.length));
  const ordinal = Math.floor(n / (kindNames.length * languages.length));
  const chosen: Chosen = {
    name: at(language.names, ordinal),
    word: at(language.words, Math.floor(ordinal / 2)),
    sentence: at(language.sentences, Math.floor(ordinal / 3)),
    n: 100 + ordinal * 7,
  };
  const { method, path, type, body } = (kinds[kind] as (chosen: Chosen) => Draft)(chosen);
  return {
    kind,
    request: {
      method,
      path,
      headers: [
        { name: 'User-Agent', value: at(agents, ordinal) },
        { name: 'Accept', value: 'text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8' },
        { name: 'Accept-Language', value: `${language.code},en;q=0.5` },
        { name: 'Cookie', value: `session=${(ordinal * 2_654_435_761).toString(36)}; consent=yes` },
        ...(type === undefined ? [] : [{ name: 'Content-Type', value: type }]),
      ],
      ...(body !== undefined && { body: { data: Buffer.from(body).toString('base64') } }),
    },
  };
};
