// SPDX-License-Identifier: GPL-2.0-or-later
//
// text - sizes, times and others' names as people read them; elements that hold text

const MIB = 2 ** 20;
const GIB = 2 ** 30;

// "806 MB", MB being MiB, as in the text report; null: "unknown".
export function bytesText(bytes) {
	if (bytes === null || bytes === undefined)
		return 'unknown';
	if (bytes >= 10 * GIB)
		return `${(bytes / GIB).toFixed(1)} GB`;
	const mib = bytes / MIB;
	return `${mib.toFixed(mib < 9.95 ? 1 : 0)} MB`;
}

// "204 to 205 MB"
export function rangeText(lower, upper) {
	const [low, high] = [bytesText(lower), bytesText(upper)];
	if (low === high || upper === null)
		return low;
	if (lower === null)
		return `at most ${high}`;
	const unit = low.slice(low.lastIndexOf(' '));
	return `${high.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}

// Of what is read and written, which may be little.
export function fineBytesText(bytes) {
	if (bytes === null || bytes === 0)
		return bytes === null ? 'unknown' : 'nothing';
	return bytes < 2 ** 20 ? `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB` : bytesText(bytes);
}

// The exact number for those who need it: "844,103,680 bytes".
export function exactBytesText(bytes) {
	return bytes === null ? 'unknown' : `${countText(bytes)} bytes`;
}

export function secondsText(s) {
	if (s === null || s === undefined)
		return 'unknown';
	const size = Math.abs(s);
	if (size === 0)
		return '0 s';
	if (size < 0.001 && size > 0)
		return `${(s * 1e6).toFixed(0)} µs`;
	if (size < 0.1)
		return `${(s * 1e3).toFixed(size < 0.01 ? 2 : 1)} ms`;
	if (size < 1)
		return `${s.toFixed(2)} s`;
	if (size < 120)
		return `${s.toFixed(1)} s`;
	if (size < 7200)
		return `${(s / 60).toFixed(1)} min`;
	return `${(s / 3600).toFixed(1)} h`;
}

// A moment of the run, as exact as the part of it that is looked at needs.
export function momentText(s, span) {
	if (s === null || s === undefined)
		return 'unknown';
	const decimals = span > 100 ? 1 : span > 10 ? 2 : span > 0.5 ? 3 : 6;
	return `${s.toFixed(decimals)} s`;
}

// The same at an axis: "1.5 s" for "1.500 s".
export function tickText(s, span) {
	return momentText(s, span).replace(/(\.\d*?)0+ s$/, '$1 s').replace('. s', ' s');
}

export function coresText(cores) {
	return cores === null || cores === undefined ? 'unknown' : cores.toFixed(cores < 9.95 ? 1 : 0);
}

export function countText(n) {
	return n === null || n === undefined ? 'unknown' : String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function plural(n, one, more = `${one}s`) {
	return `${countText(n)} ${n === 1 ? one : more}`;
}

// Control characters and direction marks would show something else than is there.
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const HARMFUL_OR_ESCAPE = new RegExp(`[\\\\${HARMFUL.source.slice(1)}`, 'gu');

const SHORT = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\' };

function escape(c) {
	if (c in SHORT)
		return SHORT[c];
	const code = c.codePointAt(0);
	return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` :
		`\\u${code.toString(16).padStart(4, '0')}`;
}

// Others' names: what is harmful as \xNN, \uNNNN or \n, the backslash as two.
export function plain(text) {
	return String(text).replace(HARMFUL_OR_ESCAPE, escape);
}

export function cut(text, most) {
	return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

// As a shell would take it, safe to look at.
function wordText(word) {
	if (word.search(HARMFUL) >= 0)
		return `$'${plain(word).replace(/'/g, "\\'")}'`;
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

export function wordsText(words) {
	return words.map(wordText).join(' ');
}

// An element; children are elements or texts, which stay texts whatever is in them.
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name === 'on')
			for (const [event, handler] of Object.entries(value))
				element.addEventListener(event, handler);
		else if (value !== null && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

// Others' names, escaped, and kept apart from the direction of the text around them.
export function foreign(text, attributes = {}) {
	return make('bdi', attributes, plain(text));
}

// Their command lines, of @most characters.
export function command(words, most, attributes = {}) {
	return make('bdi', attributes, cut(wordsText(words), most));
}

// [term, description] pairs; those without a description are left out.
export function list(pairs, attributes = {}) {
	const dl = make('dl', attributes);
	for (const [term, value] of pairs)
		if (value !== null && value !== undefined && value !== 'unknown')
			dl.append(make('dt', {}, term), make('dd', {}, value));
	return dl;
}

// What compilers and linkers take with the next word, as their drivers write it.
const TAKES_WORD = new Set(('-D -F -I -L -MD -MF -MMD -MQ -MT -T -U -auxbase -auxbase-strip -dumpbase -dumpbase-ext -dumpdir -dynamic-linker ' +
	'-idirafter -imacros -imultiarch -imultilib -include -iprefix -iquote -isysroot -isystem -iwithprefix -o -plugin -rpath -soname -x -z --param --sysroot').split(' '));

// Of arguments that are more than there is room for those that say most: without options.
export function telling(words, room) {
	if (words.join(' ').length <= room)
		return words;
	const few = words.filter((word, i) => !(word.length > 1 && word.startsWith('-') && !/^-[ce]$/.test(word)) &&
		!(i && TAKES_WORD.has(words[i - 1])));
	return few.length ? few : words;
}
