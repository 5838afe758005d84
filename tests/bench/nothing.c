/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nothing - the smallest program there is to exec */

int main(void)
{
	return 0;
}
