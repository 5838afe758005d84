// SPDX-License-Identifier: GPL-2.0-or-later
//
// colours - of names, told apart also by those who see few colours; the page's own come from its style

const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#a4508b', '#b8860b', '#3f88c5', '#7a3e00', '#5b5bd6'];
const DARK = ['#56a9dd', '#f08a4b', '#3cc79a', '#d98cc4', '#e3b341', '#8ec5f0', '#c9986b', '#9d9df5'];

export const NAMES_COLOURED = LIGHT.length;

export const isDark = () => window.matchMedia('(prefers-color-scheme: dark)').matches;

// Of a side of a comparison.
export const sideColour = (side) => (isDark() ? DARK : LIGHT)[side % LIGHT.length];

// The variables of page.css that a canvas needs.
export function theme() {
	const style = getComputedStyle(document.documentElement);
	const of = (name) => style.getPropertyValue(name).trim();
	return {
		ink: of('--ink'),
		soft: of('--soft'),
		line: of('--line'),
		paper: of('--paper'),
		memory: of('--memory'),
		band: of('--band'),
		cores: of('--cores'),
		warn: of('--warn'),
		good: of('--good'),
		phase: of('--phase'),
		choice: of('--choice'),
		font: getComputedStyle(document.body).fontFamily,
	};
}

// The names that used most CPU have a colour each; the rest share one.
export function nameColours(run) {
	const weights = new Map();
	for (const p of run.processes)
		weights.set(p.name, (weights.get(p.name) ?? 0) + (p.cpu ?? 0) + 1e-9);
	const names = [...weights].sort((a, b) => b[1] - a[1]).map(([name]) => name);
	const places = new Map(names.slice(0, NAMES_COLOURED).map((name, i) => [name, i]));
	return {
		names: names.slice(0, NAMES_COLOURED),
		more: names.length - Math.min(names.length, NAMES_COLOURED),
		of(name) {
			const place = places.get(name);
			const palette = isDark() ? DARK : LIGHT;
			return place === undefined ? (isDark() ? '#8a8f98' : '#858b94') : palette[place];
		},
	};
}
