// Package recipes has the programs of docs/recipes.md that need packages of others. They are
// Examples in its tests.
package recipes
