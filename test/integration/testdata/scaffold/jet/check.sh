#!/bin/sh
echo [[ Facts.os.family ]]
