import type { BuiltinDictionary } from './builtin-dictionary.ts';

/** What people type into forms every day. Each line holds something that a careless filter takes for an attack. */
const texts = `
Please select a table from the list and drop me a line when it is free.
The union of both teams will vote on Friday; all members or their deputies may attend.
I'd like to update my order: delete the second item, insert one more chair.
O'Brien, D'Angelo & Sons - "Fine Furniture"
It's 5 o'clock somewhere, isn't it?
Rock 'n' roll night @ Murphy's, 8pm; bring a friend!
Where 1 = 1 course and 2 = 2 courses, see the menu.
Having said that, group by age and order by height, please.
The script for the school play is due on Monday.
Alert! The onload ramp is closed for repairs.
Use <b>bold</b> type for headings, as in the style guide.
If a < b and b < c then a < c.
Temperature: -5 < t < 5, wind > 30 km/h
<3 this place, will come back :-)
Grüße aus Köln, wir freuen uns auf Samstag!
¿Dónde está la biblioteca? Está cerrada; vuelve mañana.
L'été dernier, j'ai passé une semaine à l'île d'Oléron.
Størrelse 42, farge blå, levering på døra.
東京駅から歩いて五分です。
Спасибо за быстрый ответ!
मुझे कल तक उत्तर चाहिए।
Price: $19.99 (incl. 20% VAT) -- shipping not included
50% off everything; 100% cotton; code: SAVE50
Order #10042; ref: A/B/2024-07
My address: 12/3 Upper St., Apt. #4; ring twice & wait.
C:\\Users\\Anna\\Documents\\report (final).docx
/home/anna/notes/2024/../2023/summary.txt is where I left it
See ../images/photo.jpg relative to the page
The file name is "..hidden"; don't delete it.
https://www.shop.test/search?q=cat+food&sort=price&order=asc
http://user-guide.test/index.html#section-3.1
mailto:anna.smith+orders@office.test?subject=Hello%20there
Contact: "Smith, Anna" <anna.smith@office.test>
Re: Re: Fwd: minutes of the meeting (draft 3)
SELECT your seat: window / aisle
CREATE an account, or log in WITH your phone number
Execute the plan; cast your vote; declare the result.
From the top: one, two, three -- and go!
He said, "like '%anything%', you know?"
Question 7: 10 or 20? Answer: 10 OR 20 both count.
admin' is not a name, said the administrator.
The function f(x) = x^2; f'(x) = 2x; f''(x) = 2
sum(a[i] * b[i]) for i in 0..n-1
if (ready) { start(); } else { wait(10); }
for (let i = 0; i < 10; i++) console.log(i);
print("Hello, world!")
echo "backup done" | mail -s "nightly job" anna
Run ls -la; then cat README and tell me what you see.
ping 10.0.0.1 answered in 3 ms
cd project && npm test || echo failed
grep -r "timeout" . | wc -l gave me 17
chmod 644 worked, thanks; id and whoami show my own user.
{"name":"Anna","age":34,"tags":["a","b"],"note":null}
[1, 2, 3, {"$price": 5}]
name=Anna&city=K%C3%B6ln&zip=50667
<note><to>Bob</to><body>Don't forget the milk</body></note>
SGVsbG8sIEFubmEhIFNlZSB5b3UgdG9tb3Jyb3cu
550e8400-e29b-41d4-a716-446655440000
0xDEADBEEF is my favourite number
Version 1.0.0-beta.2+build.42
10.11.12.13/24 is our test network, ::1 is the loopback.
"Comma, separated", values, "with ""quotes"" inside"
a;b;c;d -- four columns, one semicolon each
Tom & Jerry; salt & pepper; R&D; Q&A
@anna thanks! #happy #friday
$$$ bargain $$$
*** important *** please read
~~struck out~~ and __underlined__ and **bold**
:-) ;-) :-( :/ <(^_^)> \\o/
A (very (deeply (nested))) remark [sic] {really}
The template says Dear {{name}}, your order {{number}} is ready.
Replace \${user} by your own name.
Null is a valid surname; so is True.
My cat's name is Robert; we call her Tables.
Wait... what?! No way!!!
He weighed 80kg; she, 60kg; together: 140kg.
Half a pound of tuppenny rice, half a pound of treacle.
The quick brown fox jumps over the lazy dog.
One % of one % is 0.01 %
The file:// scheme and the data: scheme are both described in chapter 4.
document.cookie recipes: oat, chocolate, ginger
Our evaluation (eval for short) of the system() design is attached.
Base64 of "hi" is aGk=
Sleep(8 hours) is recommended for adults.
Benchmark results: 5,000 requests; waitfor no one, delay no longer.
Load file from the printer's tray, then convert into PDF.
Char(acter) building exercise, concat(enate) your notes.
Version history: alter ego added, truncate bug fixed.
Exec summary: shutdown of plant B; grant of licence; revoke of permit.
Information schema for the new library: author, title, year.
iframe, frame and window dimensions: 120 x 80 cm
expression of interest; style: background navy
vbscript was once a language; javascript: still is one.
onerror and onclick are words our glossary explains.
Meet me at the bar/foo exhibition, 2nd floor.
passwd is how some people abbreviate password.
/etc is Latin-ish for "and so on": /etc/etc.
I've 99 problems; this form isn't one.
`;

export const benignTexts: BuiltinDictionary = {
  name: 'Benign texts',
  description: 'Harmless texts that careless filters take for attacks: what is blocked of them is a false positive',
  tags: 'benign,waf',
  selection: 'shuffle',
  columns: ['text'],
  values: texts.trim().split('\n'),
};
