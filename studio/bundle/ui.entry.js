// What draws the page: Preact, its hooks and signals, and htm for templates.
export { h, render, Fragment } from "preact";
export { useState, useEffect, useRef, useMemo, useCallback, useLayoutEffect } from "preact/hooks";
export { signal, computed, effect, batch, untracked, useSignal, useComputed } from "@preact/signals";
import htm from "htm";
import { h } from "preact";
export const html = htm.bind(h);
